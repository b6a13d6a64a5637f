// The graph of the relations of an object: its boxes in columns and the lines between them.
import { deepEqual, equal } from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { ClusterObject } from '../../source/source.ts'
import { relationGraph, relationQueries } from './relations.ts'

const object = (name: string, more: object = {}, metadata: object = {}): ClusterObject => ({
  metadata: { name, namespace: 'default', uid: `uid-${name}`, ...metadata },
  ...more,
})
const ownedBy = (kind: string, name: string) => ({ ownerReferences: [{ kind, name, uid: `uid-${name}` }] })
const kindNames = new Map([
  ['deployments.apps', 'Deployment'],
  ['replicasets.apps', 'ReplicaSet'],
  ['pods', 'Pod'],
])
const kinds = {
  kindOf: (id: string) => kindNames.get(id),
  idOf: (kind: string) => [...kindNames].find(([, each]) => each === kind)?.[0],
}

const labels = { app: 'web' }
const spec = {
  nodeName: 'n',
  serviceAccountName: 'runner',
  containers: [{ envFrom: [{ secretRef: { name: 'token' } }, { configMapRef: { name: 'settings' } }] }],
  volumes: [{ persistentVolumeClaim: { claimName: 'data' } }],
}
const backend = { service: { name: 'web' } }
const cluster = new Map<string, readonly ClusterObject[]>([
  ['deployments.apps', [object('web', { spec: { template: { metadata: { labels }, spec } } })]],
  ['replicasets.apps', [object('web-1', {}, ownedBy('Deployment', 'web'))]],
  ['pods', [object('web-1-a', { spec, status: {} }, { ...ownedBy('ReplicaSet', 'web-1'), labels })]],
  [
    'services',
    [object('web', { spec: { selector: labels } }, { uid: 'service' }), object('all', { spec: { selector: {} } })],
  ],
  ['ingresses.networking.k8s.io', [object('in', { spec: { rules: [{ http: { paths: [{ backend }] } }] } })]],
  ['networkpolicies.networking.k8s.io', [object('deny', { spec: { podSelector: {} } })]],
  ['poddisruptionbudgets.policy', [object('guard', { spec: { selector: { matchLabels: labels } } })]],
  [
    'horizontalpodautoscalers.autoscaling',
    [object('scaler', { spec: { scaleTargetRef: { kind: 'Deployment', name: 'web' } } })],
  ],
])
const lists = (id: string): readonly ClusterObject[] => cluster.get(id) ?? []

const graphOf = (id: string, each: ClusterObject | undefined) => relationGraph(id, each ?? object('none'), lists, kinds)
/** `column: role name`, by column. */
const boxesOf = (id: string, each: ClusterObject | undefined): readonly string[] =>
  graphOf(id, each)
    .boxes.map(({ column, role, name }) => `${column}: ${role} ${name}`)
    .toSorted((a, b) => Number.parseInt(a) - Number.parseInt(b))

suite('relations', () => {
  for (const [name, id, each, expected] of [
    [
      'a pod has its owners, what reaches and limits it, and what it uses',
      'pods',
      lists('pods')[0],
      [
        '-2: owner web',
        '-1: owner web-1',
        '-1: reaches it web',
        '-1: limits disruption guard',
        '-1: limits traffic deny',
        '0:  web-1-a',
        '1: runs it n',
        '1: identity runner',
        '1: used settings',
        '1: used token',
        '1: used data',
      ],
    ],
    [
      'a Deployment has what it owns, and what scales it',
      'deployments.apps',
      lists('deployments.apps')[0],
      [
        '-1: reaches it web',
        '-1: limits disruption guard',
        '-1: limits traffic deny',
        '-1: scales it scaler',
        '0:  web',
        '1: owned web-1',
        '1: identity runner',
        '1: used settings',
        '1: used token',
        '1: used data',
        '2: owned web-1-a',
      ],
    ],
    [
      'a Service has its routes and its pods',
      'services',
      lists('services')[0],
      ['-1: routes to it in', '0:  web', '1: gets traffic web-1-a'],
    ],
    [
      'an Ingress has its Services',
      'ingresses.networking.k8s.io',
      lists('ingresses.networking.k8s.io')[0],
      ['0:  in', '1: gets traffic web'],
    ],
    [
      'a policy has its pods',
      'networkpolicies.networking.k8s.io',
      lists('networkpolicies.networking.k8s.io')[0],
      ['0:  deny', '1: limited web-1-a'],
    ],
    ['a node has its pods', 'nodes', object('n'), ['0:  n', '1: runs on it web-1-a']],
    ['a Secret has its users', 'secrets', object('token'), ['-1: uses it web', '0:  token']],
    [
      'a claim has its users, its volume and its class',
      'persistentvolumeclaims',
      object('data', { spec: { volumeName: 'v', storageClassName: 'fast' } }),
      ['-1: uses it web', '0:  data', '1: volume v', '1: class fast'],
    ],
    ['an object of another kind may have none', 'widgets.example.com', object('w'), ['0:  w']],
  ] as const)
    test(name, () => {
      deepEqual(boxesOf(id, each), expected)
    })

  test('boxes are links in their namespace; lines lead from left to right', () => {
    const { boxes, lines, firstColumn, lastColumn, rows } = graphOf('pods', lists('pods')[0])
    deepEqual(boxes.find(({ name }) => name === 'n')?.object, { resource: 'nodes', namespace: '', name: 'n' })
    deepEqual(boxes.find(({ name }) => name === 'token')?.object, {
      resource: 'secrets',
      namespace: 'default',
      name: 'token',
    })
    equal(
      lines.every(({ from, to }) => to.column === from.column + 1),
      true,
    )
    deepEqual([firstColumn, lastColumn, rows], [-2, 1, 5])
  })

  test('many objects of one role are counted, and cycles of owners end', () => {
    const many = Array.from({ length: 20 }, (_, at) => object(`p-${at}`, {}, ownedBy('Job', 'j')))
    const job = object('j', {}, ownedBy('Job', 'j'))
    const all = (id: string) => (id === 'pods' ? many : id === 'jobs.batch' ? [job] : [])
    const { boxes } = relationGraph('jobs.batch', job, all, { kindOf: () => 'Job', idOf: () => 'jobs.batch' })
    equal(boxes.filter(({ column }) => column === 1).at(-1)?.name, 'and 14 more')
    equal(boxes.length < 100, true)
  })

  test('the lists are those of the namespace; of a node the pods on it', () => {
    deepEqual(relationQueries('nodes', { metadata: { name: 'n' } }), [
      { resource: 'pods', namespace: '', fieldSelector: 'spec.nodeName=n' },
    ])
    deepEqual(relationQueries('clusterroles.rbac.authorization.k8s.io', { metadata: { name: 'r' } }), [])
    equal(
      relationQueries('pods', object('a')).every(({ namespace }) => namespace === 'default'),
      true,
    )
  })
})
