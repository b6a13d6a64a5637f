import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { drillDown, drillDownFrom } from './drill-down.ts'
import { resourceNamed } from './resources.ts'
import { cronJobs, deployments, pods, resources } from './state.harness.ts'

const web = { resource: deployments, namespace: 'shop', name: 'web' }

const selectors: [what: string, selector: unknown, query: string | undefined][] = [
  ['labels', { matchLabels: { app: 'web', tier: 'front' } }, 'app=web,tier=front'],
  ['a map, as that of a Service', { app: 'web' }, 'app=web'],
  [
    'expressions',
    {
      matchExpressions: [
        { key: 'a', operator: 'Exists' },
        { key: 'b', operator: 'DoesNotExist' },
        { key: 'c', operator: 'In', values: ['x', 'y'] },
        { key: 'd', operator: 'NotIn', values: ['z'] },
      ],
    },
    'a,!b,c in (x,y),d notin (z)',
  ],
  ['nothing', undefined, undefined],
  ['an empty selector', {}, undefined],
]
for (const [what, selector, query] of selectors)
  test(`the pods of a workload that selects ${what}`, () => {
    const to = drillDownFrom(web, { spec: { selector } }, resources)
    deepEqual(
      to,
      query === undefined
        ? undefined
        : {
            kind: 'list',
            resource: pods,
            namespace: 'shop',
            selector: { text: 'deployment/web', labelSelector: query },
          },
    )
  })

test('a CronJob leads to the Jobs that it owns', () => {
  const to = drillDownFrom({ ...web, resource: cronJobs }, { metadata: { uid: 'u' } }, resources)
  equal(to?.kind === 'list' && to.resource.plural === 'jobs' && to.selector?.ownerUid, 'u')
  equal(drillDownFrom({ ...web, resource: cronJobs }, {}, resources), undefined)
})

test('a definition leads to its objects, and other objects to nothing', () => {
  const definitions = resourceNamed('crd', resources)
  const configMaps = resourceNamed('cm', resources)
  if (definitions === undefined || configMaps === undefined) throw new Error('the harness has both')
  const to = drillDown({ resource: definitions, namespace: '', name: 'ships.example.com' }, resources)
  equal(typeof to === 'object' && to.kind === 'list' && to.resource.kind, 'Ship')
  equal(drillDown({ resource: definitions, namespace: '', name: 'none.example.com' }, resources), undefined)
  equal(drillDown({ resource: configMaps, namespace: 'shop', name: 'a' }, resources), undefined)
})
