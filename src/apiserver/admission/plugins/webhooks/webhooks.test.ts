// Webhooks as real HTTPS servers on loopback: valid, invalid and unresponsive ones.
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import type { Kind } from '../../../../api/kind/kind.ts'
import { Metrics } from '../../../../base/observability/metrics.ts'
import type { HarnessResponse, Harness } from '../../../server.harness.ts'
import { serviceAddress } from '../../../outbound/service-address.ts'
import {
  authorityOf,
  base64,
  patchWith,
  register,
  registration,
  rule,
  startHooked,
  webhook,
  webhookServer,
  type Handle,
  type Hooks,
} from './webhooks.harness.ts'
import type { ObjectLister } from '../../../watch-cache/object-caches.ts'

const maps = '/api/v1/namespaces/default/configmaps'
const make = (server: Harness, metadata: object = { name: 'm' }, query = ''): Promise<HarnessResponse> =>
  server.call('POST', maps + query, { metadata, data: { a: '1' } })
test('a denial has the message and code of the webhook', async () => {
  const rows: [response: object, code: number, message: string][] = [
    [{ allowed: false, status: { message: 'no', code: 403, reason: 'Forbidden' } }, 403, ': no'],
    [{ allowed: false, status: { reason: 'Conflict' } }, 400, ': Conflict'],
    [{ allowed: false, status: { code: 200 } }, 400, ' without explanation'],
    [{ allowed: false }, 400, ' without explanation'],
  ]
  for (const [response, code, message] of rows)
    for (const kind of ['mutating', 'validating'] as const) {
      await using hooks = await webhookServer(() => response)
      await using server = await startHooked()
      await register(server, kind, webhook(hooks))
      const { status, body } = await make(server)
      deepEqual([status, body.message], [code, `admission webhook "w.example.com" denied the request${message}`])
    }
})

test('an AdmissionReview has the user, operation and object of the request', async () => {
  await using hooks = await webhookServer(() => ({ warnings: ['careful'] }))
  await using server = await startHooked()
  await register(server, 'validating', webhook(hooks, { rules: [{ ...rule, operations: ['*'] }] }))
  const answer = await make(server)
  equal(answer.status, 201)
  deepEqual(answer.headers['warning'], ['299 - "careful"'])
  const [asked] = hooks.asked
  equal(asked?.path, '/judge?timeout=2s')
  const { uid, object, ...rest } = asked?.request ?? {}
  match(uid, /^[0-9a-f-]{36}$/)
  deepEqual([object.kind, object.apiVersion, object.data], ['ConfigMap', 'v1', { a: '1' }])
  deepEqual(rest, {
    kind: { group: '', version: 'v1', kind: 'ConfigMap' },
    resource: { group: '', version: 'v1', resource: 'configmaps' },
    requestKind: { group: '', version: 'v1', kind: 'ConfigMap' },
    requestResource: { group: '', version: 'v1', resource: 'configmaps' },
    name: 'm',
    namespace: 'default',
    operation: 'CREATE',
    userInfo: {
      username: 'admin',
      groups: ['system:masters', 'system:authenticated'],
      extra: { 'authentication.kubernetes.io/credential-id': ['X509SHA256='] },
    },
    oldObject: null,
    dryRun: false,
    options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1' },
  })
  await server.call('DELETE', `${maps}/m`)
  const deletion = hooks.asked[1]?.request
  deepEqual([deletion.operation, deletion.object, deletion.oldObject.data], ['DELETE', null, { a: '1' }])
})

const failures: [why: string, handle: Handle, detail: (hooks: Hooks) => string | RegExp][] = [
  ['garbage', () => 'no json', () => /^failed to call webhook: couldn't get version\/kind; json parse error: /],
  ['another document', () => '{}', () => 'received invalid webhook response: webhook response was absent'],
  [
    'a response with another uid',
    () => ({ uid: 'x' }),
    () => /^received invalid webhook response: expected response.uid="[^"]+", got "x"$/,
  ],
  [
    'a response of another version',
    () => JSON.stringify({ apiVersion: 'a/v2', kind: 'X', response: {} }),
    () =>
      'received invalid webhook response: expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got a/v2, Kind=X',
  ],
  [
    'a response without end',
    () => ' '.repeat(2 << 20),
    ({ url }) => `failed to call webhook: Post "${url}/judge?timeout=2s": the response is larger than 1048576 bytes`,
  ],
  [
    'a patch from a validating webhook',
    () => patchWith(),
    () => 'received invalid webhook response: validating webhook may not return response.patch',
  ],
]
for (const [why, handle, detail] of failures)
  test(`a webhook that responds with ${why} fails the request, or is ignored`, async () => {
    await using hooks = await webhookServer(handle)
    await using server = await startHooked()
    await register(server, 'validating', webhook(hooks))
    const { status, body } = await make(server)
    equal(status, 500)
    const [, message = ''] =
      /^Internal error occurred: failed calling webhook "w.example.com": (.*)$/s.exec(body.message) ?? []
    const expected = detail(hooks)
    if (typeof expected === 'string') equal(message, expected)
    else match(message, expected)
    await server.call('DELETE', `${registration}/validatingwebhookconfigurations/validating`)
    await register(server, 'validating', webhook(hooks, { failurePolicy: 'Ignore' }))
    equal((await make(server)).status, 201)
  })

test('a webhook that is slow, unreachable or has the wrong certificate', async () => {
  const never = Promise.withResolvers<object>()
  const arrived = Promise.withResolvers<void>()
  await using hooks = await webhookServer(() => {
    arrived.resolve()
    return never.promise
  })
  await using server = await startHooked()
  const failed = (url: string, why: string) =>
    `Internal error occurred: failed calling webhook "w.example.com": failed to call webhook: Post "${url}/judge?timeout=2s": ${why}`
  const replace = async (change: object) => {
    await server.call('DELETE', `${registration}/validatingwebhookconfigurations/validating`)
    await register(server, 'validating', webhook(hooks, change))
  }
  await register(server, 'validating', webhook(hooks))
  const late = make(server)
  await arrived.promise
  await server.clock.advance('2s')
  equal((await late).body.message, failed(hooks.url, 'context deadline exceeded'))
  never.resolve({})
  await replace({ clientConfig: { url: `${hooks.url}/judge`, caBundle: base64(authorityOf('other').certificate) } })
  equal(
    (await make(server)).body.message,
    failed(hooks.url, 'tls: failed to verify certificate: x509: certificate signed by unknown authority'),
  )
  await replace({ clientConfig: { url: 'https://127.0.0.1:1/judge' } })
  equal(
    (await make(server)).body.message,
    failed('https://127.0.0.1:1', 'dial tcp 127.0.0.1:1: connect: connection refused'),
  )
})

test('match conditions decide whether a webhook is called', async () => {
  const missing = `expression 'object.data.b == '1'' resulted in error: no such key: b`
  const rows: [conditions: string[], failurePolicy: string, answer: string | undefined][] = [
    [
      [`object.data.a == '1'`, `request.operation == 'CREATE'`],
      'Fail',
      'admission webhook "w.example.com" denied the request: no',
    ],
    [[`object.data.a == '2'`], 'Fail', undefined],
    [[`object.data.b == '1'`], 'Fail', `configmaps "m" is forbidden: ${missing}`],
    [[`object.data.b == '1'`, `object.data.b == '1'`], 'Fail', `configmaps "m" is forbidden: [${missing}, ${missing}]`],
    [[`object.data.b == '1'`, 'false'], 'Fail', undefined],
    [[`object.data.b == '1'`], 'Ignore', undefined],
    [[`!authorizer.requestResource.check('create').allowed()`], 'Fail', undefined],
  ]
  for (const [conditions, failurePolicy, answer] of rows)
    for (const kind of ['mutating', 'validating'] as const) {
      await using hooks = await webhookServer(() => ({ allowed: false, status: { message: 'no' } }))
      await using server = await startHooked()
      const matchConditions = conditions.map((expression, index) => ({ name: `c${index}`, expression }))
      await register(server, kind, webhook(hooks, { matchConditions, failurePolicy }))
      equal((await make(server)).body.message, answer, conditions.join())
    }
})

test('a webhook behind a Service is called at its endpoints, with the name of the Service in its certificate', async () => {
  const deny: Handle = () => ({ allowed: false, status: { message: 'received' } })
  await using hooks = await webhookServer(deny)
  await using server = await startHooked(() => `127.0.0.1:${hooks.port}`)
  const called = (name: string) => ({
    clientConfig: { service: { namespace: 'default', name, path: '/svc' }, caBundle: hooks.caBundle },
  })
  await register(server, 'validating', webhook(hooks, called('hook')))
  equal((await make(server)).body.message, 'admission webhook "w.example.com" denied the request: received')
  equal(hooks.asked[0]?.path, '/svc?timeout=2s')
  await server.call('DELETE', `${registration}/validatingwebhookconfigurations/validating`)
  await register(server, 'validating', webhook(hooks, called('impostor')))
  match(
    (await make(server)).body.message,
    /Post "https:\/\/impostor.default.svc:443\/svc\?timeout=2s": tls: failed to verify certificate: x509: /,
  )
})

test('a Service is resolved to a ready endpoint of its port', async () => {
  await using server = await startHooked()
  const clientConfig = { service: { namespace: 'default', name: 'hook' } }
  await register(server, 'validating', webhook({ url: '', caBundle: '' }, { clientConfig }))
  const message = async () =>
    /"https:\/\/hook.default.svc:443\/\?timeout=2s": (.*)$/.exec((await make(server)).body.message)?.[1]
  equal(await message(), 'service "hook" not found')
  const ports = [{ name: 'web', port: 443 }]
  await server.call('POST', '/api/v1/namespaces/default/services', { metadata: { name: 'hook' }, spec: { ports } })
  equal(await message(), 'no endpoints available for service "hook"')
  const slices = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices'
  const slice = await server.call('POST', slices, {
    metadata: { name: 'hook-1', labels: { 'kubernetes.io/service-name': 'hook' } },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready: false } }, { addresses: ['10.0.0.2'] }],
    ports: [{ name: 'web', port: 8443 }],
  })
  equal(slice.status, 201)
  const reads = {
    get: (kind: Kind, namespace: string, name: string) => server.server.registry.cached(kind, namespace, name),
    list: () => [slice.body],
  } as ObjectLister
  equal(serviceAddress({ namespace: 'default', name: 'hook', port: 443 }, reads), '10.0.0.2:8443')
})

test('patches are applied in sequence, with defaults; plugins are reinvoked where required', async () => {
  await using hooks = await webhookServer(({ path, request }) => {
    const { name } = request.object.spec.containers[0]
    if (path.startsWith('/first'))
      return patchWith({ op: 'add', path: '/metadata/labels', value: { seen: String(hooks.asked.length) } })
    if (path.startsWith('/second') && request.object.spec.containers.length === 1)
      return patchWith({ op: 'add', path: '/spec/containers/-', value: { name: `${name}2`, image: 'side' } })
    return {}
  })
  await using server = await startHooked()
  const pods = { rules: [{ ...rule, resources: ['pods'] }] }
  const at = (path: string, name: string, more: object = {}) =>
    webhook(hooks, { ...pods, name, clientConfig: { url: hooks.url + path, caBundle: hooks.caBundle }, ...more })
  await register(
    server,
    'mutating',
    at('/first', 'a.example.com', { reinvocationPolicy: 'IfNeeded' }),
    at('/second', 'b.example.com'),
  )
  const { status, body } = await server.call('POST', '/api/v1/namespaces/default/pods', {
    metadata: { name: 'p' },
    spec: { containers: [{ name: 'c', image: 'i' }] },
  })
  equal(status, 201, JSON.stringify(body))
  deepEqual(
    hooks.asked.map(({ path }) => path.split('?')[0]),
    ['/first', '/second', '/first'],
  )
  deepEqual(body.metadata.labels, { seen: '3' })
  const [first, second] = body.spec.containers
  equal(second.imagePullPolicy, 'Always')
  // The ServiceAccount plugin ran before the container was added, and again afterwards.
  deepEqual(second.volumeMounts, first.volumeMounts)
})

test('a patch that cannot be applied is an internal error', async () => {
  await using hooks = await webhookServer(() => patchWith({ op: 'remove', path: '/nowhere' }))
  await using server = await startHooked()
  await register(server, 'mutating', webhook(hooks))
  const { status, body } = await make(server)
  equal(status, 500)
  match(body.message, /^Internal error occurred: /)
})

const matching: [why: string, change: object, metadata: object, asked: boolean][] = [
  ['another resource', { rules: [{ ...rule, resources: ['secrets'] }] }, {}, false],
  ['every resource', { rules: [{ ...rule, resources: ['*'], apiGroups: ['*'], apiVersions: ['*'] }] }, {}, true],
  ['parts alone', { rules: [{ ...rule, resources: ['configmaps/status'] }] }, {}, false],
  ['a resource and its subresources', { rules: [{ ...rule, resources: ['*/*'] }] }, {}, true],
  ['another operation', { rules: [{ ...rule, operations: ['DELETE'] }] }, {}, false],
  ['another group', { rules: [{ ...rule, apiGroups: ['apps'] }] }, {}, false],
  ['scope Cluster', { rules: [{ ...rule, scope: 'Cluster' }] }, {}, false],
  ['scope Namespaced', { rules: [{ ...rule, scope: 'Namespaced' }] }, {}, true],
  ['an object selector that matches', { objectSelector: { matchLabels: { a: 'b' } } }, { labels: { a: 'b' } }, true],
  ['an object selector that does not match', { objectSelector: { matchLabels: { a: 'b' } } }, {}, false],
  ['its namespace', { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'default' } } }, {}, true],
  ['another namespace', { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'x' } } }, {}, false],
]
for (const [why, change, metadata, isCalled] of matching)
  test(`a webhook for ${why} is ${isCalled ? '' : 'not '}called`, async () => {
    await using hooks = await webhookServer(() => ({}))
    await using server = await startHooked()
    await register(server, 'validating', webhook(hooks, change))
    equal((await make(server, { name: 'm', ...metadata })).status, 201)
    equal(hooks.asked.length, isCalled ? 1 : 0)
  })

test('equivalent versions are sent in the version of the rule', async () => {
  const scaler = {
    metadata: { name: 'h' },
    spec: { maxReplicas: 3, scaleTargetRef: { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' } },
  }
  const rules = [{ ...rule, apiGroups: ['autoscaling'], resources: ['horizontalpodautoscalers'] }]
  for (const [matchPolicy, version, asked] of [
    ['Equivalent', 'v2', 1],
    ['Exact', 'v2', 0],
    ['Exact', 'v1', 1],
  ] as const) {
    await using hooks = await webhookServer(() => ({}))
    await using server = await startHooked()
    await register(server, 'validating', webhook(hooks, { rules, matchPolicy }))
    const path = `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers`
    equal((await server.call('POST', path, scaler)).status, 201)
    equal(hooks.asked.length, asked)
    for (const { request } of hooks.asked)
      deepEqual(
        [request.object.apiVersion, request.kind.version, request.requestKind.version],
        ['autoscaling/v1', 'v1', version],
      )
  }
})

test('validating webhooks are called concurrently over reused connections; webhook configurations are exempt', async () => {
  const both = Promise.withResolvers<void>()
  await using hooks = await webhookServer(async () => {
    if (hooks.asked.length === 2) both.resolve()
    await both.promise
    return {}
  })
  await using server = await startHooked()
  const every = [{ ...rule, apiGroups: ['*'], resources: ['*'] }]
  await register(
    server,
    'validating',
    webhook(hooks, { rules: every }),
    webhook(hooks, { rules: every, name: 'v.example.com' }),
  )
  await register(server, 'mutating', webhook(hooks, { rules: [] }))
  equal(hooks.asked.length, 0)
  equal((await make(server)).status, 201)
  equal(hooks.asked.length, 2)
})

test('dryRun is set in the review of a dry run', async () => {
  await using hooks = await webhookServer(({ request }) => ({
    allowed: false,
    status: { message: String(request.dryRun) },
  }))
  await using server = await startHooked()
  await register(server, 'validating', webhook(hooks, { sideEffects: 'NoneOnDryRun' }))
  match((await make(server, { name: 'm' }, '?dryRun=All')).body.message, /denied the request: true$/)
})

test('webhook responses are counted', async () => {
  await using hooks = await webhookServer(({ request }) =>
    request.name === 'denied' ? { allowed: false, status: { code: 403 } } : request.name === 'bad' ? 'no json' : {},
  )
  const metrics = new Metrics()
  await using server = await startHooked(undefined, {}, {}, metrics)
  await register(server, 'mutating', webhook(hooks, { name: 'lenient.example.com', failurePolicy: 'Ignore' }))
  await register(server, 'validating', webhook(hooks))
  for (const name of ['fine', 'denied', 'bad']) await make(server, { name })
  const text = metrics.text()
  const labels = (name: string, type: string) => `{name="${name}",type="${type}",operation="CREATE"`
  const lenient = labels('lenient.example.com', 'admit')
  const strict = labels('w.example.com', 'validating')
  for (const line of [
    `request_total${lenient},code="200",rejected="false"} 1`,
    `request_total${lenient},code="403",rejected="true"} 1`,
    `request_total${lenient},code="500",rejected="false"} 1`,
    `rejection_count${lenient},error_type="no_error",rejection_code="403"} 1`,
    `rejection_count${strict},error_type="calling_webhook_error",rejection_code="0"} 1`,
    'fail_open_count{name="lenient.example.com",type="admit"} 1',
    `admission_duration_seconds_count${strict},rejected="false"} 1`,
  ])
    ok(text.includes(`apiserver_admission_webhook_${line}`), line)
})
