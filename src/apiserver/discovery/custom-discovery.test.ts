// Discovery of custom kinds, and the warnings of their deprecated versions, as upstream's.
import { deepEqual, equal, notEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { eventLoopTurn } from '../../base/async/event-loop-turn.ts'
import { startServer, type Harness } from '../server.harness.ts'

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const schema = { openAPIV3Schema: { type: 'object' } }
const version = (name: string, more: object = {}) => ({ name, served: true, storage: name === 'v1', schema, ...more })
const subresources = {
  status: {},
  scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
}

const cronTabs = (versions: readonly object[] = [version('v1', { subresources })]) => ({
  metadata: { name: 'crontabs.stable.example.com' },
  spec: {
    group: 'stable.example.com',
    scope: 'Namespaced',
    names: { plural: 'crontabs', kind: 'CronTab', shortNames: ['ct'], categories: ['all'] },
    versions,
  },
})

/** Defines the kind and waits until it is served, which takes turns of the event loop only. */
async function define(server: Harness, definition: object, path: string): Promise<void> {
  equal((await server.call('POST', definitions, definition)).status, 201)
  for (let turns = 0; turns < 1_000; turns++) {
    if ((await server.call('GET', path)).status === 200) return
    await eventLoopTurn()
  }
  throw new Error(`${path} is not served`)
}

const verbs = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch']
const partVerbs = ['get', 'patch', 'update']
const root = '/apis/stable.example.com/v1'

test('a custom kind in the list of a group version', async () => {
  await using server = await startServer()
  await define(server, cronTabs(), `${root}/crontabs`)
  const part = (name: string, more: object) => ({ name, singularName: '', namespaced: true, ...more, verbs: partVerbs })
  deepEqual((await server.call('GET', root)).body, {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: 'stable.example.com/v1',
    resources: [
      {
        name: 'crontabs',
        singularName: 'crontab',
        namespaced: true,
        kind: 'CronTab',
        verbs,
        shortNames: ['ct'],
        categories: ['all'],
        storageVersionHash: 'EdX2FP+L0js=',
      },
      part('crontabs/status', { kind: 'CronTab' }),
      part('crontabs/scale', { group: 'autoscaling', version: 'v1', kind: 'Scale' }),
    ],
  })
})

const aggregated = { accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList' }

test('a custom kind in aggregated discovery', async () => {
  await using server = await startServer()
  const before = await server.call('GET', '/apis', undefined, aggregated)
  await define(server, cronTabs(), `${root}/crontabs`)
  const { body, headers } = await server.call('GET', '/apis', undefined, aggregated)
  notEqual(headers['etag'], before.headers['etag'])
  const responseKind = { group: 'stable.example.com', version: 'v1', kind: 'CronTab' }
  deepEqual(
    body.items.find(({ metadata }: { metadata: { name: string } }) => metadata.name === 'stable.example.com'),
    {
      metadata: { name: 'stable.example.com' },
      versions: [
        {
          version: 'v1',
          freshness: 'Current',
          resources: [
            {
              resource: 'crontabs',
              responseKind,
              scope: 'Namespaced',
              singularResource: 'crontab',
              verbs,
              shortNames: ['ct'],
              categories: ['all'],
              subresources: [
                { subresource: 'status', responseKind, verbs: partVerbs },
                {
                  subresource: 'scale',
                  responseKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
                  verbs: partVerbs,
                },
              ],
            },
          ],
        },
      ],
    },
  )
})

test('the entity tag changes with the content only', async () => {
  await using server = await startServer()
  await define(server, cronTabs(), `${root}/crontabs`)
  const tag = async () => (await server.call('GET', '/apis', undefined, aggregated)).headers['etag']
  const before = await tag()
  const patch = (body: object) =>
    server.call('PATCH', `${definitions}/crontabs.stable.example.com`, body, {
      'content-type': 'application/merge-patch+json',
    })
  const columns = [{ name: 'A', type: 'string', jsonPath: '.a' }]
  const changed = version('v1', { subresources, additionalPrinterColumns: columns })
  equal((await patch({ spec: { versions: [changed] } })).status, 200)
  equal(await tag(), before)
  equal((await patch({ spec: { names: { shortNames: ['c'] } } })).status, 200)
  for (let turns = 0; turns < 1_000 && (await tag()) === before; turns++) await eventLoopTurn()
  notEqual(await tag(), before)
  const same = await server.call('GET', '/apis', undefined, { ...aggregated, 'if-none-match': String(await tag()) })
  equal(same.status, 304)
})

test('while a definition is being deleted, its objects can only be read and deleted', async () => {
  await using server = await startServer()
  await define(server, cronTabs(), `${root}/crontabs`)
  const object = { apiVersion: 'stable.example.com/v1', kind: 'CronTab' }
  const metadata = { name: 'a', finalizers: ['example.com/x'] }
  equal((await server.call('POST', `${root}/namespaces/default/crontabs`, { ...object, metadata })).status, 201)
  await server.call('DELETE', `${definitions}/crontabs.stable.example.com`)
  deepEqual((await server.call('GET', root)).body.resources[0].verbs, [
    'delete',
    'deletecollection',
    'get',
    'list',
    'watch',
  ])
})

test('every response of a deprecated version has a warning', async () => {
  await using server = await startServer()
  const versions = [
    version('v1'),
    version('v1beta1', { deprecated: true }),
    version('v2alpha1', { deprecated: true, deprecationWarning: 'go away' }),
    version('v2', { deprecated: true }),
  ]
  await define(server, cronTabs(versions), `${root}/crontabs`)
  const warningsAt = async (path: string) =>
    (await server.head('GET', `/apis/stable.example.com/${path}`)).headers['warning']
  const recommended = '299 - "stable.example.com/v1beta1 CronTab is deprecated; use stable.example.com/v1 CronTab"'
  equal(await warningsAt('v1/crontabs'), undefined)
  deepEqual(await warningsAt('v1beta1/crontabs'), [recommended])
  deepEqual(await warningsAt('v1beta1/namespaces/default/crontabs/none'), [recommended])
  deepEqual(await warningsAt('v2/crontabs'), ['299 - "stable.example.com/v2 CronTab is deprecated"'])
  deepEqual(await warningsAt('v2alpha1/crontabs?watch=true'), ['299 - "go away"'])
  const created = await server.call('POST', '/apis/stable.example.com/v2alpha1/namespaces/default/crontabs', {
    apiVersion: 'stable.example.com/v2alpha1',
    kind: 'CronTab',
    metadata: { name: 'a' },
    zz: 1,
  })
  deepEqual(created.headers['warning'], ['299 - "go away"', '299 - "unknown field \\"zz\\""'])
})
