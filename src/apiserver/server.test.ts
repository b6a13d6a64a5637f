// The verbs as clients see them: responses, stored objects and rejections.
import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { allowed } from './authorization/authorizer.ts'
import { VirtualClock } from '../base/time/virtual-clock.ts'
import { RequestScheduler } from './request/request-scheduler.ts'
import { userWithName, type ApiRequest } from './request/request.ts'
import { startServer } from './server.harness.ts'
import { handlerChain } from './filters/filter.ts'
import type { FilterDeps } from './filters/policies.ts'
import { filters } from './filters.ts'
import { openPolicies } from './open-policies.ts'
import { MemoryStore } from '../store/memory-store.ts'
import { StoreUnavailable, type Transaction } from '../store/store.ts'
import { aPod, configMap, configMaps, deployments, pods, web } from './server-objects.harness.ts'

test('an object is created, read, changed and deleted', async () => {
  await using server = await startServer()
  const created = await server.call('POST', configMaps, configMap('a'))
  equal(created.status, 201)
  const { uid, resourceVersion, creationTimestamp } = created.body.metadata
  match(uid, /^[0-9a-f-]{36}$/)
  equal(creationTimestamp, '2030-01-01T00:00:00Z')
  deepEqual(created.body, {
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: {
      name: 'a',
      namespace: 'default',
      uid,
      resourceVersion,
      creationTimestamp,
      managedFields: [
        {
          manager: 'unknown',
          operation: 'Update',
          apiVersion: 'v1',
          time: creationTimestamp,
          fieldsType: 'FieldsV1',
          fieldsV1: { 'f:data': { '.': {}, 'f:a': {} } },
        },
      ],
    },
    data: { a: '1' },
  })
  deepEqual((await server.call('GET', `${configMaps}/a`)).body, created.body)

  const changed = await server.call('PUT', `${configMaps}/a`, { ...created.body, data: { a: '2' } })
  equal(changed.status, 200)
  ok(Number(changed.body.metadata.resourceVersion) > Number(resourceVersion))
  const same = await server.call('PUT', `${configMaps}/a`, changed.body)
  equal(
    same.body.metadata.resourceVersion,
    changed.body.metadata.resourceVersion,
    'a write that changes nothing keeps its version',
  )
  const stale = await server.call('PUT', `${configMaps}/a`, { ...created.body, data: { a: '3' } })
  deepEqual(
    [stale.status, stale.body.reason, stale.body.message],
    [
      409,
      'Conflict',
      'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again',
    ],
  )

  const gone = await server.call('DELETE', `${configMaps}/a`)
  deepEqual(gone.body, {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: { name: 'a', kind: 'configmaps', uid },
  })
  equal((await server.call('GET', `${configMaps}/a`)).status, 404)
})

test('a request passes the filters in order and releases its seat however it ends', async () => {
  const trace: string[] = []
  const policies = {
    ...openPolicies,
    authenticate: () => {
      trace.push('authenticate')
      return { kind: 'authenticated', user: userWithName('a'), audiences: [] } as const
    },
    seatOf: () => ({
      isExempt: false,
      take() {
        trace.push('seat')
        return Promise.resolve(() => void trace.push('leave'))
      },
    }),
    scheduler: new RequestScheduler(new VirtualClock()),
    loop: { lastStep: (request, work) => work(request) } as FilterDeps['loop'],
    authorize: () => {
      trace.push('authorize')
      return allowed()
    },
  }
  const end = () => {
    trace.push('end')
    return Promise.reject(new Error('x'))
  }
  const request = {
    target: { kind: 'path', verb: 'get', path: '/', accept: '' },
    credentials: { kind: 'asserted' },
    context: {},
  } as never
  await rejects(async () => handlerChain(filters, policies, end)(request), /x/)
  deepEqual(trace, ['authenticate', 'seat', 'authorize', 'end', 'leave'])
})

test('generateName generates a name, warnings list unknown fields, dry runs store nothing', async () => {
  await using server = await startServer()
  const named = await server.call('POST', `${configMaps}?fieldValidation=Warn`, {
    metadata: { generateName: 'x-' },
    dat: 1,
  })
  match(named.body.metadata.name, /^x-[bcdfghjklmnpqrstvwxz2456789]{5}$/)
  deepEqual(named.headers['warning'], ['299 - "unknown field \\"dat\\""'])
  const dry = await server.call('POST', `${configMaps}?dryRun=All`, configMap('dry'))
  deepEqual([dry.status, dry.body.data], [201, { a: '1' }])
  equal((await server.call('GET', `${configMaps}/dry`)).status, 404)
})

test('all three patch types change an object; managed fields are retained', async () => {
  await using server = await startServer()
  const { body } = await server.call('POST', deployments, web)
  const patch = (type: string, value: unknown) =>
    server.call('PATCH', `${deployments}/web`, value, { 'content-type': `application/${type}+json` })
  equal((await patch('merge-patch', { spec: { replicas: 2 } })).body.spec.replicas, 2)
  const container = (
    await patch('strategic-merge-patch', { spec: { template: { spec: { containers: [{ name: 'c', image: 'j' }] } } } })
  ).body.spec.template.spec.containers[0]
  deepEqual([container.image, container.imagePullPolicy], ['j', 'Always'])
  const last = await patch('json-patch', [
    { op: 'replace', path: '/spec/replicas', value: 4 },
    { op: 'add', path: '/status', value: { replicas: 9 } },
    { op: 'add', path: '/metadata/uid', value: body.metadata.uid },
  ])
  deepEqual([last.body.spec.replicas, last.body.status, last.body.metadata.generation], [4, {}, 4])
  equal((await patch('json-patch', [{ op: 'test', path: '/spec/replicas', value: 1 }])).status, 422)
  equal((await patch('merge-patch', { spec: { replicas: -1 } })).status, 422)
  equal((await patch('merge-patch', { spec: { selector: { matchLabels: { x: 'y' } } } })).status, 422)
})

test('status and scale are separate subresources', async () => {
  await using server = await startServer()
  const { body } = await server.call('POST', deployments, { ...web, status: { replicas: 7 } })
  deepEqual(body.status, {})
  const status = await server.call('PUT', `${deployments}/web/status`, {
    ...body,
    spec: { ...body.spec, replicas: 9 },
    status: { replicas: 1 },
  })
  deepEqual([status.body.spec.replicas, status.body.status, status.body.metadata.generation], [1, { replicas: 1 }, 1])
  const scale = await server.call('GET', `${deployments}/web/scale`)
  deepEqual(
    [scale.body.kind, scale.body.spec, scale.body.status],
    ['Scale', { replicas: 1 }, { replicas: 1, selector: 'app=web' }],
  )
  const scaled = await server.call('PUT', `${deployments}/web/scale`, { ...scale.body, spec: { replicas: 0 } })
  deepEqual(scaled.body.spec, {})
  const patched = await server.call(
    'PATCH',
    `${deployments}/web/scale`,
    { spec: { replicas: 3 } },
    { 'content-type': 'application/merge-patch+json' },
  )
  deepEqual(patched.body.spec, { replicas: 3 })
  equal(
    (await server.call('PUT', `${deployments}/web/scale`, scale.body)).status,
    409,
    'an old version of the scale is stale',
  )
  equal((await server.call('GET', `${deployments}/web`)).body.metadata.generation, 3)
  equal((await server.call('DELETE', `${deployments}/web/scale`)).status, 405)
})

test('a pod is bound once; it is deleted gracefully while it may run, and at once otherwise', async () => {
  await using server = await startServer()
  const bind = (name: string) => server.call('POST', `${pods}/${name}/binding`, { target: { kind: 'Node', name: 'n' } })
  const { body } = await server.call('POST', pods, aPod('p'))
  deepEqual(body.status, { phase: 'Pending', qosClass: 'BestEffort' })
  equal((await bind('p')).status, 201)
  const again = await bind('p')
  deepEqual(
    [again.status, again.body.message],
    [409, 'Operation cannot be fulfilled on pods/binding "p": pod p is already assigned to node "n"'],
  )
  equal((await bind('none')).status, 404)
  const bound = await server.call('GET', `${pods}/p`)
  deepEqual(
    [bound.body.spec.nodeName, bound.body.status.conditions],
    ['n', [{ type: 'PodScheduled', status: 'True', lastTransitionTime: '2030-01-01T00:00:00Z' }]],
  )
  const marked = await server.call('DELETE', `${pods}/p`)
  deepEqual(
    [marked.status, marked.body.metadata.deletionTimestamp, marked.body.metadata.deletionGracePeriodSeconds],
    [200, '2030-01-01T00:00:30Z', 30],
  )
  const longer = await server.call('DELETE', `${pods}/p?gracePeriodSeconds=60`)
  equal(longer.body.metadata.deletionGracePeriodSeconds, 30, 'a second deletion never lengthens the grace')
  const shorter = await server.call('DELETE', `${pods}/p`, { gracePeriodSeconds: 5 })
  equal(shorter.body.metadata.deletionGracePeriodSeconds, 5)
  await server.call('DELETE', `${pods}/p`, { gracePeriodSeconds: 0 })
  equal((await server.call('GET', `${pods}/p`)).status, 404)
  await server.call('POST', pods, aPod('unbound'))
  await server.call('DELETE', `${pods}/unbound`)
  equal((await server.call('GET', `${pods}/unbound`)).status, 404, 'a pod without a node is deleted at once')
})

test('finalizers retain an object until the last one is removed', async () => {
  await using server = await startServer()
  const { body } = await server.call('POST', configMaps, configMap('held', {}, { finalizers: ['a/b'] }))
  const marked = await server.call('DELETE', `${configMaps}/held`)
  deepEqual([marked.body.kind, marked.body.metadata.deletionGracePeriodSeconds], ['ConfigMap', 0])
  const more = await server.call('PUT', `${configMaps}/held`, {
    ...marked.body,
    metadata: { ...marked.body.metadata, finalizers: ['a/b', 'c/d'] },
  })
  match(more.body.message, /no new finalizers can be added/)
  equal(
    (await server.call('PUT', `${configMaps}/held`, { ...body, metadata: { name: 'held', finalizers: [] } })).status,
    200,
  )
  equal((await server.call('GET', `${configMaps}/held`)).status, 404)
  for (const [policy, finalizer] of [
    ['Foreground', 'foregroundDeletion'],
    ['Orphan', 'orphan'],
  ] as const) {
    await server.call('POST', configMaps, configMap(`by-${policy.toLowerCase()}`))
    deepEqual(
      (await server.call('DELETE', `${configMaps}/by-${policy.toLowerCase()}?propagationPolicy=${policy}`)).body
        .metadata.finalizers,
      [finalizer],
    )
  }
})

test('a terminating namespace rejects new content', async () => {
  await using server = await startServer()
  const ended = await server.call('DELETE', '/api/v1/namespaces/other')
  equal(ended.body.status.phase, 'Terminating')
  const refusal = await server.call('POST', '/api/v1/namespaces/other/configmaps', configMap('a'))
  equal(
    refusal.body.message,
    'configmaps "a" is forbidden: unable to create new content in namespace other because it is being terminated',
  )
  equal(refusal.body.details.causes[0].reason, 'NamespaceTerminating')
})

test('events expire after an hour', async () => {
  await using server = await startServer()
  await server.call('POST', '/api/v1/namespaces/default/events', {
    metadata: { name: 'e' },
    involvedObject: { namespace: 'default', name: 'x' },
    reason: 'R',
  })
  await server.clock.advance('59m')
  equal((await server.call('GET', '/api/v1/namespaces/default/events')).body.items.length, 1)
  await server.clock.advance('3m')
  equal((await server.call('GET', '/api/v1/namespaces/default/events')).body.items.length, 0)
})

test('no update of many concurrent writers of one object is lost', async () => {
  await using server = await startServer()
  await server.call('POST', configMaps, configMap('a', {}))
  const patch = (index: number) =>
    server.call(
      'PATCH',
      `${configMaps}/a`,
      { data: { [`k${index}`]: 'x' } },
      { 'content-type': 'application/merge-patch+json' },
    )
  const answers = await Promise.all(Array.from({ length: 12 }, (_, index) => patch(index)))
  deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
  equal(Object.keys((await server.call('GET', `${configMaps}/a`)).body.data).length, 12)
})

test('another version of a kind serves the same objects: written, read, patched, listed and watched', async () => {
  await using server = await startServer()
  const core = '/api/v1/namespaces/default/events'
  const newer = '/apis/events.k8s.io/v1/namespaces/default/events'
  const watching = server.watch(`${core}?watch=1`, 2)
  await server.clock.settle()
  const sent = {
    metadata: { name: 'e' },
    eventTime: '2030-01-01T00:00:00.000000Z',
    regarding: { namespace: 'default', name: 'x' },
    note: 'hello',
    reportingController: 'c',
  }
  const made = await server.call('POST', newer, sent)
  deepEqual([made.status, made.body.apiVersion, made.body.note], [201, 'events.k8s.io/v1', 'hello'])
  const asCore = (await server.call('GET', `${core}/e`)).body
  deepEqual(
    [asCore.apiVersion, asCore.message, asCore.involvedObject.name, asCore.reportingComponent, asCore.metadata.uid],
    ['v1', 'hello', 'x', 'c', made.body.metadata.uid],
  )
  const patched = await server.call(
    'PATCH',
    `${newer}/e`,
    { note: 'changed' },
    { 'content-type': 'application/merge-patch+json' },
  )
  deepEqual([patched.status, patched.body.note], [200, 'changed'])
  deepEqual(
    (await watching).map(({ type, object }) => `${type} ${object.apiVersion} ${object.message}`),
    ['ADDED v1 hello', 'MODIFIED v1 changed'],
  )
  const [seen] = await server.watch(`${newer}?watch=1`, 1)
  deepEqual([seen.object.apiVersion, seen.object.note], ['events.k8s.io/v1', 'changed'])
  const { body: list } = await server.call('GET', newer)
  deepEqual([list.kind, list.apiVersion, list.items[0].note], ['EventList', 'events.k8s.io/v1', 'changed'])
  equal(
    (await server.call('POST', newer, { ...sent, metadata: { name: 'f' }, regarding: { namespace: 'other' } })).status,
    422,
  )
  await server.call('DELETE', `${newer}/e`)
  equal((await server.call('GET', `${core}/e`)).status, 404)
})

test('a request that takes too long is answered with 504', async () => {
  const isStuck = (request: ApiRequest) =>
    request.target.kind === 'resource' && request.target.resource.plural === 'configmaps'
  const stuckUntilAborted = ({ context: { signal } }: ApiRequest) =>
    new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
  await using server = await startServer({
    ...openPolicies,
    seatOf: (request) => ({
      isExempt: false,
      take: () => (isStuck(request) ? stuckUntilAborted(request) : Promise.resolve(() => {})),
    }),
  })
  const asking = server.call('GET', configMaps)
  await server.clock.advance('61s')
  const { status, body } = await asking
  deepEqual([status, body.reason], [504, 'Timeout'])
  // That of the repair of node ports.
  equal(server.clock.pendingTimers, 1)
})

const dependents: [why: string, kind: 'jobs' | 'replicationcontrollers' | 'replicasets', options: object | undefined, finalizers: unknown, isWarned: boolean][] = [
  ['a ReplicationController orphans its pods by default', 'replicationcontrollers', undefined, ['orphan'], false],
  ['a ReplicationController with propagationPolicy Background', 'replicationcontrollers', { propagationPolicy: 'Background' }, undefined, false],
  ['a ReplicationController that does not orphan', 'replicationcontrollers', { orphanDependents: false }, undefined, false],
  ['a Job orphans its pods by default, with a warning', 'jobs', undefined, ['orphan'], true],
  ['a Job with propagationPolicy Background', 'jobs', { propagationPolicy: 'Background' }, undefined, false],
  ['a Job that orphans on request', 'jobs', { propagationPolicy: 'Orphan' }, ['orphan'], false],
  ['a ReplicaSet deletes its pods', 'replicasets', undefined, undefined, false],
] // prettier-ignore
for (const [why, plural, options, finalizers, isWarned] of dependents)
  test(`deletion and dependents: ${why}`, async () => {
    await using server = await startServer()
    const template = {
      metadata: { labels: { a: 'b' } },
      spec: { containers: [{ name: 'c', image: 'i' }], ...(plural === 'jobs' ? { restartPolicy: 'Never' } : {}) },
    }
    const [root, spec] = {
      jobs: ['/apis/batch/v1', { template }] as const,
      replicasets: ['/apis/apps/v1', { selector: { matchLabels: { a: 'b' } }, template }] as const,
      replicationcontrollers: ['/api/v1', { selector: { a: 'b' }, template }] as const,
    }[plural]
    const path = `${root}/namespaces/default/${plural}`
    equal((await server.call('POST', path, { metadata: { name: 'x' }, spec })).status, 201)
    const { status, body, headers } = await server.call('DELETE', `${path}/x`, options)
    deepEqual([status, body.metadata.finalizers], [200, finalizers])
    equal(String(headers['warning'] ?? '').includes('child pods are preserved by default'), isWarned)
  })

test('the namespace in the body of a cluster-scoped object is ignored', async () => {
  await using server = await startServer()
  const roles = '/apis/rbac.authorization.k8s.io/v1/clusterroles'
  const body = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'a', namespace: 'default' },
  }
  const responses = [
    await server.call('POST', roles, body),
    await server.call('PUT', `${roles}/a`, body),
    await server.call('PATCH', `${roles}/a`, body, { 'content-type': 'application/merge-patch+json' }),
    await server.call('PATCH', `${roles}/a?fieldManager=m`, body, { 'content-type': 'application/apply-patch+yaml' }),
    await server.call('GET', `${roles}/a`),
  ]
  const seen = responses.map((response) => [response.status, response.body.metadata.namespace])
  deepEqual(seen, [[201, undefined], ...Array.from({ length: 4 }, () => [200, undefined])])
})

test('the record and the metrics have the status that a client gets while the store is unavailable', async () => {
  let isFull = false
  class FillingStore extends MemoryStore {
    override async commit(transaction: Transaction, signal: AbortSignal) {
      if (isFull) throw new StoreUnavailable('the disk is full')
      return super.commit(transaction, signal)
    }
  }
  const clock = new VirtualClock()
  await using server = await startServer(openPolicies, { clock, store: new FillingStore(clock) })
  isFull = true
  const { status, body } = await server.call('POST', configMaps, configMap('a'))
  deepEqual([status, body.reason, body.message], [503, 'ServiceUnavailable', 'the disk is full'])
  const [call] = [...server.flow.events()].filter(({ what }) => what === 'create configmaps')
  equal(call?.outcome, '503 ServiceUnavailable')
})
