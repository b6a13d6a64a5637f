// Audit: which rule applies, what each stage contains, and where events are written.
import { deepEqual, equal, ok, throws } from 'node:assert/strict'
import { mkdtemp, readFile, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { silentLog } from '../../base/observability/log.ts'
import { Metrics } from '../../base/observability/metrics.ts'
import { seededRandom } from '../../base/random/random.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { secret } from '../../api/core/v1/secret.ts'
import { pod } from '../../api/core/v1/pod/pod.ts'
import { StatusError } from '../../api/errors/status-error.ts'
import { nodeFiles } from '../../platform/node/files.ts'
import { ConfigReader } from '../config/config-reader.ts'
import { type Policies } from '../filters/policies.ts'
import { userWithName, type Target } from '../request/request.ts'
import { startServer } from '../server.harness.ts'
import { auditLine } from './audit-line.ts'
import { AuditLog, type AuditLogOptions } from './audit-log.ts'
import { auditPolicy, matchingRule } from './audit-policy.ts'
import type { AuditEvent } from './audit-record.ts'
import { AuditWebhook } from './audit-webhook.ts'
import { Auditor, type AuditBackend, type AuditMode } from './auditor.ts'
import { openPolicies } from '../open-policies.ts'

const policyOf = (rules: readonly object[], rest: object = {}) =>
  auditPolicy(new ConfigReader({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules, ...rest }))

const of = (resource: typeof pod | typeof secret, verb: 'get' | 'list' | 'create', name = '', subresource = '') =>
  ({ kind: 'resource', verb, resource, subresource, namespace: 'default', name }) as Target
const path = (text: string): Target => ({ kind: 'path', verb: 'get', path: text, accept: '' })
const jane = userWithName('jane', ['staff'])

const matches: [string, object, Target, boolean][] = [
  ['everything', {}, of(pod, 'get', 'a'), true],
  ['a user', { users: ['jane'] }, of(pod, 'get', 'a'), true],
  ['another user', { users: ['john'] }, of(pod, 'get', 'a'), false],
  ['a group', { userGroups: ['staff'] }, of(pod, 'get', 'a'), true],
  ['a verb', { verbs: ['list'] }, of(pod, 'get', 'a'), false],
  ['a resource', { resources: [{ group: '', resources: ['pods'] }] }, of(pod, 'get', 'a'), true],
  [
    'a resource without its subresource',
    { resources: [{ group: '', resources: ['pods'] }] },
    of(pod, 'get', 'a', 'log'),
    false,
  ],
  [
    'all subresources of a resource',
    { resources: [{ group: '', resources: ['pods/*'] }] },
    of(pod, 'get', 'a', 'log'),
    true,
  ],
  [
    'a subresource of all resources',
    { resources: [{ group: '', resources: ['*/log'] }] },
    of(pod, 'get', 'a', 'log'),
    true,
  ],
  ['all resources of a group', { resources: [{ group: '' }] }, of(secret, 'get', 'a'), true],
  ['another group', { resources: [{ group: 'apps' }] }, of(secret, 'get', 'a'), false],
  ['a name', { resources: [{ group: '', resources: ['pods'], resourceNames: ['b'] }] }, of(pod, 'get', 'a'), false],
  ['a namespace', { namespaces: ['default'] }, of(pod, 'list'), true],
  ['another path', { namespaces: [''] }, path('/version'), false],
  ['paths below', { nonResourceURLs: ['/healthz*'] }, path('/healthz/ping'), true],
  ['the path without its children', { nonResourceURLs: ['/healthz'] }, path('/healthz/ping'), false],
]
for (const [name, rule, target, expected] of matches)
  test(`a rule matches: ${name}`, () => {
    equal(matchingRule(policyOf([{ level: 'Metadata', ...rule }]), { target }, jane) !== undefined, expected)
  })

test('an invalid policy is rejected', () => {
  throws(() => policyOf([]), /rules must not be empty/)
  throws(() => policyOf([{ level: 'Everything' }]), /rules\[0\].level "Everything" is none of/)
  throws(() => policyOf([{ level: 'None', namespaces: ['a'], nonResourceURLs: ['/a'] }]), /cannot apply to both/)
  throws(() => policyOf([{ level: 'None' }], { omitStages: ['Late'] }), /omitStages "Late" is none of/)
})

function recorded(rules: readonly object[], rest: object = {}, policies: Policies = openPolicies) {
  const events: AuditEvent[] = []
  const clock = new VirtualClock()
  const backend: AuditBackend = {
    write: (event) => Promise.resolve(events.push(event) > 0),
    close: () => Promise.resolve(),
  }
  const audit = new Auditor({
    policy: policyOf(rules, rest),
    backends: [backend],
    clock,
    random: seededRandom(1),
    metrics: new Metrics(),
  })
  const take = () => events.splice(0)
  return { policies: { ...policies, audit }, take, clock }
}

const summaryOf = (events: readonly AuditEvent[]) =>
  events.map(({ stage, responseStatus }) => [stage, (responseStatus as { code?: number } | undefined)?.code])

const hidden = 'c2VjcmV0'
const secretOf = (name: string) => ({ metadata: { name }, data: { password: hidden } })

test('each outcome is logged', async () => {
  const refusing: Policies = {
    ...openPolicies,
    authorize: (attributes) =>
      attributes.user.name === 'stranger'
        ? { kind: 'denied', reason: () => 'never' }
        : { kind: 'allowed', reason: () => 'rule 1' },
  }
  const { policies, take, clock } = recorded([{ level: 'Metadata' }], {}, refusing)
  await using api = await startServer(policies, { clock })
  take()
  const secrets = '/api/v1/namespaces/default/secrets'
  await api.call('POST', secrets, secretOf('a'), { 'audit-id': 'id-1', 'user-agent': 'kubectl/1' })
  const events = take()
  deepEqual(summaryOf(events), [
    ['RequestReceived', undefined],
    ['ResponseComplete', 201],
  ])
  const [, last] = events
  equal(last?.['auditID'], 'id-1')
  equal(last?.['userAgent'], 'kubectl/1')
  deepEqual(last?.['objectRef'], { resource: 'secrets', namespace: 'default', name: 'a', apiVersion: 'v1' })
  deepEqual(last?.['annotations'], {
    'authorization.k8s.io/decision': 'allow',
    'authorization.k8s.io/reason': 'rule 1',
  })
  ok(!JSON.stringify(events).includes(hidden), 'no content at the level Metadata')

  const outcomes: [number, Parameters<typeof api.call>][] = [
    [409, ['POST', secrets, secretOf('a')]],
    [400, ['POST', secrets, '{"metadata":']],
    [422, ['POST', secrets, secretOf('Not A Name')]],
    [404, ['GET', `${secrets}/absent`]],
    [403, ['GET', secrets, undefined, { as: 'stranger' }]],
    [404, ['GET', '/apis/example.com/v1/namespaces/default/things/x']],
    [403, ['GET', '/apis/example.com/v1/namespaces/default/things/x', undefined, { as: 'stranger' }]],
    [404, ['GET', '/nowhere']],
    [403, ['GET', '/nowhere', undefined, { as: 'stranger' }]],
    [405, ['POST', '/api/v1/configmaps', { metadata: { name: 'a' } }]],
    [406, ['GET', secrets, undefined, { accept: 'image/png' }]],
    [415, ['POST', secrets, 'x', { 'content-type': 'text/html' }]],
    [400, ['GET', `${secrets}?includeObject=Half`]],
    [400, ['GET', '/api/v1/namespaces/%zz']],
  ]
  for (const [code, call] of outcomes) {
    equal((await api.call(...call)).status, code, call.join(' '))
    deepEqual(summaryOf(take()), [
      ['RequestReceived', undefined],
      ['ResponseComplete', code],
    ])
  }
  await api.call('PUT', '/apis/example.com/v1/namespaces/default/things/x/status', {})
  const [, unserved] = take()
  deepEqual(
    [unserved?.['verb'], unserved?.['objectRef']],
    [
      'update',
      {
        resource: 'things',
        namespace: 'default',
        name: 'x',
        apiGroup: 'example.com',
        apiVersion: 'v1',
        subresource: 'status',
      },
    ],
  )
  equal((await api.call('GET', secrets, undefined, { anonymous: '', authorization: 'Bearer wrong' })).status, 401)
  const refused = take()
  deepEqual(summaryOf(refused), [['ResponseStarted', 401]])
  const [first = {}] = refused
  equal((first['responseStatus'] as { message: string }).message, 'Authentication failed, attempted: bearer')
  ok(!JSON.stringify(refused).includes('wrong'))
})

test('an unexpected error is logged as a panic, a StatusError is not', async () => {
  let error: Error = new Error('a bug')
  const { policies, take, clock } = recorded(
    [{ level: 'Metadata', omitStages: ['RequestReceived'] }],
    {},
    {
      ...openPolicies,
      seatOf: ({ user }) => ({
        isExempt: false,
        take: () => (user?.name === 'unlucky' ? Promise.reject(error) : Promise.resolve(() => {})),
      }),
    },
  )
  await using api = await startServer(policies, { clock })
  take()
  await api.call('GET', '/version', undefined, { as: 'unlucky' })
  const panicked = take()
  deepEqual(summaryOf(panicked), [['Panic', 500]])
  deepEqual(panicked[0]?.['responseStatus'], {
    metadata: {},
    status: 'Failure',
    message: "APIServer panic'd: a bug",
    reason: 'InternalError',
    code: 500,
  })
  error = new StatusError(429, 'TooManyRequests', 'later')
  await api.call('GET', '/version', undefined, { as: 'unlucky' })
  deepEqual(summaryOf(take()), [['ResponseComplete', 429]])
})

test('higher levels include the objects, without managedFields where they are omitted', async () => {
  const rules = [
    { level: 'Request', resources: [{ group: '', resources: ['configmaps'] }] },
    { level: 'RequestResponse', resources: [{ group: '', resources: ['secrets'] }], omitManagedFields: true },
  ]
  const { policies, take, clock } = recorded(rules, { omitStages: ['RequestReceived'] })
  await using api = await startServer(policies, { clock })
  deepEqual(take(), [], 'what no rule names is not recorded')
  await api.call('POST', '/api/v1/namespaces/default/configmaps', { metadata: { name: 'a' } })
  const [request] = take()
  deepEqual(request?.['requestObject'], { metadata: { name: 'a' } })
  equal(request?.['responseObject'], undefined)
  await api.call('POST', '/api/v1/namespaces/default/secrets', secretOf('a'))
  const [both = {}] = take()
  const { metadata } = both['responseObject'] as { metadata: Record<string, unknown> }
  deepEqual([metadata['name'], metadata['managedFields']], ['a', undefined])
})

test('an impersonated user is logged, with the permission that allowed it if that was constrained', async () => {
  let verbs: readonly string[] = []
  const policy: Policies = {
    ...openPolicies,
    authorize: ({ verb }) => ({ kind: verbs.includes(verb) ? 'allowed' : 'denied', reason: () => '' }),
  }
  const { policies, take, clock } = recorded([{ level: 'Metadata' }], { omitStages: ['RequestReceived'] }, policy)
  await using api = await startServer(policies, { clock })
  const logged = async (...allowed: string[]) => {
    verbs = allowed
    take()
    await api.call('GET', '/api/v1/namespaces/default/pods', undefined, { 'impersonate-user': 'jane' })
    const [event] = take()
    return [event?.['impersonatedUser'], event?.['authenticationMetadata']]
  }
  const impersonated = { username: 'jane', groups: ['system:authenticated'] }
  const constraint = 'impersonate:user-info'
  deepEqual(await logged('impersonate-on:user-info:list', constraint), [
    impersonated,
    { impersonationConstraint: constraint },
  ])
  deepEqual(await logged('impersonate'), [impersonated, undefined])
  deepEqual(await logged(constraint), [undefined, undefined])
})

test('a watch is logged at its start and at its end', async () => {
  const { policies, take, clock } = recorded([{ level: 'Metadata', verbs: ['watch'] }])
  await using api = await startServer(policies, { clock })
  await api.watch('/api/v1/namespaces?watch=true', 1)
  await clock.settle()
  deepEqual(summaryOf(take()), [
    ['RequestReceived', undefined],
    ['ResponseStarted', 200],
    ['ResponseComplete', 200],
  ])
})

const logOptions: AuditLogOptions = {
  path: '',
  bytesMax: 1 << 20,
  backupsMax: 0,
  ageMsMax: 0,
  compresses: false,
  mode: 'blocking',
  bufferMax: 10,
}

test('a full log is rotated, and a limited number of files is retained', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'coxswain-audit-'))
  const file = join(folder, 'audit.log')
  const clock = new VirtualClock(Date.UTC(2030, 0, 1))
  const errors = new Metrics().counter('errors', '', ['plugin'])
  const options = { ...logOptions, path: file, bytesMax: 100, backupsMax: 2 }
  const log = new AuditLog(options, { files: nodeFiles, clock, log: silentLog, errors })
  for (let index = 0; index < 5; index++) {
    await log.write({ index, text: 'x'.repeat(60) })
    await clock.advance(1000)
  }
  await log.close()
  deepEqual(await nodeFiles.list(folder), [
    'audit-2030-01-01T00-00-03.000.log',
    'audit-2030-01-01T00-00-04.000.log',
    'audit.log',
  ])
  equal((await stat(file)).mode & 0o777, 0o600)
  equal((JSON.parse(await readFile(file, 'utf8')) as { index: number }).index, 4)
  await nodeFiles.remove(folder)
})

test('a webhook receives batches; events beyond the buffer are counted', async () => {
  const clock = new VirtualClock()
  const metrics = new Metrics()
  const errors = metrics.counter('errors', '', ['plugin'])
  const posts: number[] = []
  let status = 200
  const send = ({ body }: { body?: Uint8Array | string }) => {
    posts.push((JSON.parse(String(body)) as { items: unknown[] }).items.length)
    return Promise.resolve({ status, headers: {}, body: (async function* () {})() })
  }
  const server = { clock, timeoutMs: 1000, outbound: { send, close: () => Promise.resolve() } }
  const options = { bufferMax: 3, batchMax: 2, waitMs: 1000, backoffMs: 100, mode: 'batch' } as const
  const webhook = new AuditWebhook(options, { server, target: '/', log: silentLog, errors })
  status = 503
  for (let index = 0; index < 7; index++) await webhook.write({ index })
  ok(metrics.text().includes('errors{plugin="webhook"} 2'), 'two under way, three wait, two are lost')
  await clock.advance(50)
  status = 204
  await clock.advance(10_000)
  deepEqual(posts, [2, 2, 2, 1], 'the first post is tried again; the last waits for its time')
  await webhook.close()
})

test('rotated logs are compressed on request, and counted towards the limit', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'coxswain-audit-'))
  const clock = new VirtualClock(Date.UTC(2030, 0, 1))
  const errors = new Metrics().counter('errors', '', ['plugin'])
  const options = { ...logOptions, path: join(folder, 'audit.log'), bytesMax: 100, backupsMax: 1, compresses: true }
  const log = new AuditLog(options, { files: nodeFiles, clock, log: silentLog, errors })
  for (let index = 0; index < 3; index++) {
    await log.write({ index, text: 'x'.repeat(60) })
    await clock.advance(1000)
  }
  await log.close()
  const [packed = '', ...rest] = await nodeFiles.list(folder)
  deepEqual([packed, ...rest], ['audit-2030-01-01T00-00-02.000.log.gz', 'audit.log'])
  const content = gunzipSync(await readFile(join(folder, packed))).toString()
  equal((JSON.parse(content) as { index: number }).index, 1)
  await nodeFiles.remove(folder)
})

test('an event that is too large loses its objects; one that is still too large is dropped', () => {
  const event = { auditID: 'a', requestObject: 'ü'.repeat(40), responseObject: {}, annotations: { a: 'b' } }
  equal(auditLine(event), JSON.stringify(event))
  const short = { auditID: 'a', annotations: { a: 'b', 'audit.k8s.io/truncated': 'true' } }
  equal(auditLine(event, 100), JSON.stringify(short), 'bytes are counted, not characters')
  equal(auditLine(event, 50), undefined)
})

const modes: [mode: AuditMode, whileBroken: number, waits: boolean][] = [
  ['batch', 201, false],
  ['blocking', 201, true],
  ['blocking-strict', 500, true],
]
for (const [mode, whileBroken, waits] of modes)
  test(`an audit log in the mode ${mode}: whether requests wait for it, and which events are lost`, async () => {
    const clock = new VirtualClock()
    const metrics = new Metrics()
    const errors = metrics.counter('errors', '', ['plugin'])
    let isBroken = false
    let gate = Promise.resolve()
    const openAppend = () =>
      Promise.resolve({
        bytes: 0,
        async append() {
          await gate
          if (isBroken) throw new Error('no space left')
        },
        close: () => Promise.resolve(),
      })
    const log = new AuditLog(
      { ...logOptions, mode },
      { files: { ...nodeFiles, openAppend }, clock, log: silentLog, errors },
    )
    const audit = new Auditor({
      policy: policyOf([{ level: 'Metadata', verbs: ['create'], users: ['admin'] }]),
      backends: [log],
      isStrict: mode === 'blocking-strict',
      clock,
      random: seededRandom(1),
      metrics,
    })
    await using api = await startServer({ ...openPolicies, audit }, { clock })
    const make = (name: string) => api.call('POST', '/api/v1/namespaces/default/configmaps', { metadata: { name } })
    const open = Promise.withResolvers<void>()
    gate = open.promise
    const answered: string[] = []
    const first = make('a').then(({ status }) => answered.push(String(status)))
    await clock.settle()
    deepEqual(answered, waits ? [] : ['201'])
    open.resolve()
    await first
    isBroken = true
    const { status, body } = await make('b')
    equal(status, whileBroken)
    if (whileBroken === 500)
      equal(body.message, 'Internal Server Error: "/api/v1/namespaces/default/configmaps": failed to store audit event')
    equal(metrics.text().includes('apiserver_audit_requests_rejected_total 1'), whileBroken === 500)
    await log.close()
    ok(/errors\{plugin="log"\} [1-9]/.test(metrics.text()), 'what is lost is counted')
  })

test('a blocking webhook delays requests, and batches are limited in size', async () => {
  const clock = new VirtualClock()
  const errors = new Metrics().counter('errors', '', ['plugin'])
  const posts: number[] = []
  let status = 200
  const send = ({ body }: { body?: Uint8Array | string }) => {
    posts.push((JSON.parse(String(body)) as { items: unknown[] }).items.length)
    return Promise.resolve({ status, headers: {}, body: (async function* () {})() })
  }
  const server = { clock, timeoutMs: 1000, outbound: { send, close: () => Promise.resolve() } }
  const deps = { server, target: '/', log: silentLog, errors }
  const options = { bufferMax: 10, batchMax: 10, waitMs: 1000, backoffMs: 100 }
  const strict = new AuditWebhook({ ...options, mode: 'blocking-strict' }, deps)
  equal(await strict.write({ index: 1 }), true)
  status = 400
  equal(await strict.write({ index: 2 }), false)
  status = 200
  deepEqual(posts.splice(0), [1, 1])
  const bounded = new AuditWebhook(
    { ...options, mode: 'batch', truncation: { eventBytesMax: 100, batchBytesMax: 100 } },
    deps,
  )
  for (let index = 0; index < 4; index++) await bounded.write({ text: 'x'.repeat(30) })
  equal(await bounded.write({ text: 'x'.repeat(200) }), false)
  await clock.advance(5000)
  deepEqual(posts, [2, 2])
  await bounded.close()
})
