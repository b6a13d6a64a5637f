// The verbs as clients see them: responses, stored objects and rejections.
import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { allowed, noOpinion } from './authorization/authorizer.ts'
import { VirtualClock } from '../base/time/virtual-clock.ts'
import { RequestScheduler } from './request/request-scheduler.ts'
import { userWithName, type ApiRequest } from './request/request.ts'
import { startServer, type Harness } from './server.harness.ts'
import { handlerChain } from './filters/filter.ts'
import type { FilterDeps } from './filters/policies.ts'
import { filters } from './filters.ts'
import { openPolicies } from './open-policies.ts'

const configMaps = '/api/v1/namespaces/default/configmaps'
const deployments = '/apis/apps/v1/namespaces/default/deployments'
const pods = '/api/v1/namespaces/default/pods'

const configMap = (name: string, data: object = { a: '1' }, metadata: object = {}) => ({
  metadata: { name, ...metadata },
  data,
})
const labels = { app: 'web' }
const web = {
  metadata: { name: 'web' },
  spec: {
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  },
}
const aPod = (name: string, metadata: object = {}) => ({
  metadata: { name, ...metadata },
  spec: { containers: [{ name: 'c', image: 'i' }] },
})

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

const refused: [
  why: string,
  method: string,
  target: string,
  body: unknown,
  status: number,
  message: RegExp,
  headers?: Record<string, string>,
][] = [
  ['a name that is in use', 'POST', configMaps, configMap('taken'), 409, /^configmaps "taken" already exists$/],
  [
    'no name',
    'POST',
    configMaps,
    { data: {} },
    422,
    /^ConfigMap "" is invalid: metadata\.name: Required value: name or generateName is required$/,
  ],
  [
    'a missing namespace',
    'POST',
    '/api/v1/namespaces/none/configmaps',
    configMap('a'),
    404,
    /^namespaces "none" not found$/,
  ],
  [
    'another namespace in the body',
    'POST',
    configMaps,
    configMap('a', {}, { namespace: 'other' }),
    400,
    /does not match the namespace sent on the request/,
  ],
  [
    'another name on update',
    'PUT',
    `${configMaps}/taken`,
    configMap('b'),
    400,
    /^the name of the object \(b\) does not match the name on the URL \(taken\)$/,
  ],
  [
    'another kind in the body',
    'POST',
    configMaps,
    { ...configMap('a'), kind: 'Pod' },
    400,
    /the kind in the data \(Pod\) does not match the expected kind \(ConfigMap\)/,
  ],
  [
    'another version in the body',
    'POST',
    configMaps,
    { ...configMap('a'), apiVersion: 'v2' },
    400,
    /the API version in the data \(v2\)/,
  ],
  [
    'a wrong type',
    'POST',
    configMaps,
    configMap('a', { x: 1 }),
    400,
    /^ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ConfigMap\.data of type string$/,
  ],
  [
    'an unknown field when strict',
    'POST',
    `${configMaps}?fieldValidation=Strict`,
    { ...configMap('a'), dat: 1 },
    400,
    /strict decoding error: unknown field "dat"$/,
  ],
  [
    'an invalid field validation level',
    'POST',
    `${configMaps}?fieldValidation=Some`,
    configMap('a'),
    422,
    /fieldValidation: Unsupported value: "Some"/,
  ],
  ['a body that is not JSON', 'POST', configMaps, '{', 400, /must be of type JSON/],
  ['a body that is not an object', 'POST', configMaps, '[]', 400, /cannot be handled as a ConfigMap/],
  ['no body', 'POST', configMaps, undefined, 400, /the request has no body/],
  [
    'an unknown media type',
    'POST',
    configMaps,
    'x',
    415,
    /accepted media types include: application\/json/,
    { 'content-type': 'text/plain' },
  ],
  [
    'an unknown patch type',
    'PATCH',
    `${configMaps}/taken`,
    '{}',
    415,
    /application\/json-patch\+json, application\/merge-patch\+json, application\/strategic-merge-patch\+json/,
  ],
  [
    'a response format that is not supported',
    'GET',
    configMaps,
    undefined,
    406,
    /only the following media types are accepted/,
    { accept: 'image/png' },
  ],
  [
    'an unknown resource',
    'GET',
    '/api/v1/widgets',
    undefined,
    404,
    /^the server could not find the requested resource$/,
  ],
  ['an unknown resource', 'GET', '/api/v1/nothing', undefined, 404, /could not find/],
  ['an unknown subresource', 'GET', `${configMaps}/taken/status`, undefined, 404, /could not find/],
  ['a missing object', 'DELETE', `${configMaps}/none`, undefined, 404, /^configmaps "none" not found$/],
  [
    'an update of a missing object',
    'PUT',
    `${configMaps}/none`,
    configMap('none'),
    404,
    /^configmaps "none" not found$/,
  ],
  [
    'another uid as precondition',
    'DELETE',
    `${configMaps}/taken`,
    { preconditions: { uid: 'x' } },
    409,
    /the UID in the precondition \(x\) does not match the UID in record /,
  ],
  [
    'an unknown propagation policy',
    'DELETE',
    `${configMaps}/taken?propagationPolicy=Sideways`,
    undefined,
    422,
    /^DeleteOptions\.meta\.k8s\.io "" is invalid: propagationPolicy: Unsupported value: "Sideways": supported values: "Foreground", "Background", "Orphan", "nil"$/,
  ],
  [
    'an unknown field label',
    'GET',
    `${configMaps}?fieldSelector=spec.x=1`,
    undefined,
    400,
    /^"spec\.x" is not a known field selector: only "metadata\.name", "metadata\.namespace"$/,
  ],
  [
    'an unknown dryRun value',
    'POST',
    `${configMaps}?dryRun=Some`,
    configMap('a'),
    422,
    /^CreateOptions\.meta\.k8s\.io "" is invalid: dryRun: Unsupported value: \["Some"\]: supported values: "All"$/,
  ],
  ['a limit that is not a number', 'GET', `${configMaps}?limit=x`, undefined, 400, /^strconv\.ParseInt: parsing "x"/],
  [
    'a resourceVersionMatch without a version',
    'GET',
    `${configMaps}?resourceVersionMatch=Exact`,
    undefined,
    422,
    /^ListOptions\.meta\.k8s\.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided$/,
  ],
  [
    'sendInitialEvents on a list',
    'GET',
    `${configMaps}?sendInitialEvents=true`,
    undefined,
    422,
    /sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list$/,
  ],
  [
    'sendInitialEvents without resourceVersionMatch',
    'GET',
    `${configMaps}?watch=1&sendInitialEvents=true`,
    undefined,
    422,
    /resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan$/,
  ],
  [
    'a continue token with a resourceVersion',
    'GET',
    `${configMaps}?continue=x&resourceVersion=5`,
    undefined,
    400,
    /^specifying resource version is not allowed when using continue$/,
  ],
  [
    'a resourceVersion that is not a number',
    'GET',
    `${configMaps}?resourceVersion=x`,
    undefined,
    400,
    /invalid syntax/,
  ],
  ['a broken continue token', 'GET', `${configMaps}?limit=1&continue=zzz`, undefined, 400, /continue key is not valid/],
  [
    'deletion of a system namespace',
    'DELETE',
    '/api/v1/namespaces/default',
    undefined,
    403,
    /^namespaces "default" is forbidden: this namespace may not be deleted$/,
  ],
  ['an anonymous user', 'GET', configMaps, undefined, 401, /^Unauthorized$/, { anonymous: 'yes' }],
  [
    'an invalid token',
    'GET',
    configMaps,
    undefined,
    401,
    /^Unauthorized$/,
    { anonymous: 'yes', authorization: 'Bearer x' },
  ],
  ['a malformed path', 'GET', '/api/v1/namespaces/%E0%A4%A', undefined, 400, /malformed/],
  [
    'an unknown method',
    'BREW',
    configMaps,
    undefined,
    405,
    /^the server does not allow this method on the requested resource$/,
  ],
]
for (const [why, method, target, body, status, message, headers] of refused)
  test(`rejected: ${why}`, async () => {
    await using server = await startServer()
    await server.call('POST', configMaps, configMap('taken'))
    const before = server.store.revision
    const answer = await server.call(method, target, body, headers)
    equal(answer.status, status, JSON.stringify(answer.body))
    deepEqual([answer.body.kind, answer.body.status, answer.body.code], ['Status', 'Failure', status])
    match(answer.body.message, message)
    equal(server.store.revision, before, 'nothing was written')
  })

for (const path of ['/nothing', '/apis/nothing.example', '/apis/nothing.example/v1', '/apis/nothing.example/v1/things'])
  test(`${path} is outside the groups of the server: the response is plain text`, async () => {
    await using server = await startServer()
    const { status, headers, body } = await server.call('GET', path)
    deepEqual([status, headers['content-type'], body], [404, 'text/plain; charset=utf-8', '404 page not found\n'])
  })

test("a rejection by authorization has upstream's message", async () => {
  await using server = await startServer({
    ...openPolicies,
    authorize: (asked) => (asked.kind === 'resource' && asked.resource === 'namespaces' ? allowed() : noOpinion()),
  })
  equal(
    (await server.call('GET', `${pods}/p`)).body.message,
    'pods "p" is forbidden: User "admin" cannot get resource "pods" in API group "" in the namespace "default"',
  )
  equal(
    (await server.call('GET', '/api/v1/nodes')).body.message,
    'nodes is forbidden: User "admin" cannot list resource "nodes" in API group "" at the cluster scope',
  )
  equal((await server.call('GET', '/metrics')).body.message, 'forbidden: User "admin" cannot get path "/metrics"')
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
    loop: { lastStep: (_request, work) => work() } as FilterDeps['loop'],
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

async function fill(server: Harness): Promise<void> {
  for (const [name, app] of [
    ['a', 'x'],
    ['b', 'y'],
    ['c', 'x'],
  ] as const)
    await server.call('POST', configMaps, configMap(name, {}, { labels: { app } }))
  await server.call('POST', '/api/v1/namespaces/other/configmaps', configMap('d'))
}

const lists: [target: string, names: string[]][] = [
  [configMaps, ['a', 'b', 'c']],
  ['/api/v1/configmaps', ['a', 'b', 'c', 'd']],
  [`${configMaps}?labelSelector=app%3Dx`, ['a', 'c']],
  [`${configMaps}?labelSelector=app%20notin%20(x)`, ['b']],
  [`${configMaps}?fieldSelector=metadata.name%3Db`, ['b']],
  [`${configMaps}?fieldSelector=metadata.name!%3Db`, ['a', 'c']],
  ['/api/v1/configmaps?fieldSelector=metadata.namespace%3Dother', ['d']],
  ['/api/v1/configmaps?resourceVersion=0', ['a', 'b', 'c', 'd']],
]
for (const [target, names] of lists)
  test(`list ${target}`, async () => {
    await using server = await startServer()
    await fill(server)
    const { body } = await server.call('GET', target)
    deepEqual(
      body.items.map((item: { metadata: { name: string } }) => item.metadata.name),
      names,
    )
    equal(body.kind, 'ConfigMapList')
    equal('kind' in body.items[0], false, 'items carry no kind')
  })

test('pages show the list at the revision of the first page', async () => {
  await using server = await startServer()
  await fill(server)
  const first = (await server.call('GET', `${configMaps}?limit=2`)).body
  deepEqual([first.items.length, first.metadata.remainingItemCount], [2, 1])
  await server.call('DELETE', `${configMaps}/c`)
  await server.call('POST', configMaps, configMap('bb'))
  const second = (await server.call('GET', `${configMaps}?limit=2&continue=${first.metadata.continue}`)).body
  deepEqual(
    second.items.map((item: { metadata: { name: string } }) => item.metadata.name),
    ['c'],
  )
  equal(second.metadata.resourceVersion, first.metadata.resourceVersion)
  equal(second.metadata.continue, undefined)
  const exact = (
    await server.call(
      'GET',
      `${configMaps}?resourceVersionMatch=Exact&resourceVersion=${first.metadata.resourceVersion}`,
    )
  ).body
  equal(exact.items.length, 3)
})

test('a continue token that has expired is answered with a token for an inconsistent list', async () => {
  await using server = await startServer()
  await fill(server)
  const first = (await server.call('GET', `${configMaps}?limit=1`)).body
  await using later = await startServer(openPolicies, { store: server.store, clock: server.clock })
  await server.call('POST', '/api/v1/namespaces/other/configmaps', configMap('e'))
  await server.store.compact(server.store.revision, new AbortController().signal)
  await using compacted = await startServer(openPolicies, { store: server.store, clock: server.clock })
  const next = `${configMaps}?limit=2&continue=${first.metadata.continue}`
  equal((await later.call('GET', next)).status, 200, 'a server that starts knows the past of the store')
  const { status, body } = await compacted.call('GET', next)
  deepEqual([status, body.reason], [410, 'Expired'])
  const exact = `resourceVersionMatch=Exact&resourceVersion=${first.metadata.resourceVersion}`
  equal(
    (await compacted.call('GET', `${configMaps}?${exact}`)).body.message,
    'The resourceVersion for the provided list is too old.',
  )
  const rest = (await compacted.call('GET', `${configMaps}?limit=2&continue=${body.metadata.continue}`)).body
  deepEqual(
    rest.items.map((item: { metadata: { name: string } }) => item.metadata.name),
    ['b', 'c'],
  )
})

test('the pages of a list have the same revision for five minutes', async () => {
  await using server = await startServer()
  await fill(server)
  const page = async (token: string) => server.call('GET', `${configMaps}?limit=1&continue=${token}`)
  const first = (await server.call('GET', `${configMaps}?limit=1`)).body.metadata.continue as string
  await server.clock.advance('4m')
  const second = (await page(first)).body.metadata.continue as string
  equal((await page(second)).status, 200)
  await server.clock.advance('2m')
  const { status, body } = await page(second)
  deepEqual([status, body.reason], [410, 'Expired'], 'counted from the first page')
  equal((await page(body.metadata.continue)).status, 200)
})

test('a request with a future resourceVersion waits, then fails', async () => {
  await using server = await startServer()
  const asking = server.call('GET', `${configMaps}?resourceVersion=99999`)
  await server.clock.advance('5s')
  const { status, body } = await asking
  deepEqual([status, body.reason], [504, 'Timeout'])
  match(body.message, /^Timeout: Too large resource version: 99999, current: \d+$/)
})

test('a collection is deleted by selector', async () => {
  await using server = await startServer()
  await fill(server)
  const dry = await server.call('DELETE', configMaps, { dryRun: ['All'] })
  deepEqual([dry.body.kind, dry.body.items.length], ['ConfigMapList', 3])
  equal((await server.call('DELETE', `${configMaps}/a`, { dryRun: ['All'] })).status, 200)
  equal((await server.call('GET', configMaps)).body.items.length, 3, 'a dry run in the body deletes nothing')
  const page = (await server.call('DELETE', `${configMaps}?limit=1&dryRun=All`)).body
  deepEqual([page.items.length, page.metadata.remainingItemCount], [1, 2])
  equal((await server.call('DELETE', `${configMaps}?labelSelector=app%3Dx`)).body.items.length, 2)
  equal((await server.call('GET', '/api/v1/configmaps')).body.items.length, 2)
})

const beginnings: [query: string, lines: string[]][] = [
  ['', ['ADDED a', 'ADDED b', 'ADDED c', 'ADDED new']],
  ['&resourceVersion=0', ['ADDED a', 'ADDED b', 'ADDED c', 'ADDED new']],
  ['&sendInitialEvents=false&resourceVersionMatch=NotOlderThan', ['ADDED new']],
  [
    '&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true',
    ['ADDED a', 'ADDED b', 'ADDED c', 'BOOKMARK true', 'ADDED new'],
  ],
  ['&fieldSelector=metadata.name%3Dnew', ['ADDED new']],
]
for (const [query, lines] of beginnings)
  test(`a watch with ${query === '' ? 'no parameters' : query} starts as requested`, async () => {
    await using server = await startServer()
    await fill(server)
    const watching = server.watch(`${configMaps}?watch=true${query}`, lines.length)
    await server.clock.settle()
    await server.call('POST', configMaps, configMap('new'))
    deepEqual(
      (await watching).map(
        ({ type, object: { metadata } }) =>
          `${type} ${metadata.name ?? metadata.annotations?.['k8s.io/initial-events-end']}`,
      ),
      lines,
    )
  })

test('a watch that begins too far in the future, or too early, has the error in its stream', async () => {
  await using server = await startServer()
  const future = `${configMaps}?watch=1&resourceVersion=99999`
  const waiting = server.watch(`${future}&timeoutSeconds=5`, 1)
  const initial = '&sendInitialEvents=true&resourceVersionMatch=NotOlderThan'
  const late = server.watch(`${future}${initial}`, 1)
  await server.clock.advance('6s')
  deepEqual(await waiting, [], 'without initial events, a watch waits for its version')
  const [{ type, object }] = (await late) as [{ type: string; object: { code: number; message: string } }]
  deepEqual([type, object.code], ['ERROR', 504])
  match(object.message, /^Timeout: Too large resource version: 99999, current: \d+$/)
  await fill(server)
  await server.store.compact(server.store.revision, new AbortController().signal)
  await using compacted = await startServer(openPolicies, { store: server.store, clock: server.clock })
  const [old] = await compacted.watch(`${configMaps}?watch=1&resourceVersion=1`, 1)
  deepEqual([old?.type, old?.object.code, old?.object.reason], ['ERROR', 410, 'Expired'])
  match(old?.object.message, /^too old resource version: 1 \(\d+\)$/)
})

test('the deprecated watch path, and the end of a watch after its timeout', async () => {
  await using server = await startServer()
  const watching = server.watch('/api/v1/watch/namespaces/default/configmaps?timeoutSeconds=5', 2)
  await server.clock.settle()
  await server.call('POST', configMaps, configMap('a'))
  await server.clock.advance('6s')
  deepEqual(
    (await watching).map(({ type }) => type),
    ['ADDED'],
  )
  const endless = server.watch(`${configMaps}?watch=1`, 2)
  await server.clock.advance('61m')
  equal((await endless).length, 1)
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
