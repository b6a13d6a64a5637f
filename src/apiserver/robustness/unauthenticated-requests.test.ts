// Nothing that a client without credentials sends is stored without a bound: neither in the flow record, nor in metrics,
// nor in caches.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { after, test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { flowTextCharsMax, type FlowId } from '../../base/observability/flow-recorder.ts'
import { startGuarded } from '../server-policies.harness.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

const collections = 3
const warmUpRounds = 20
const rounds = 150
/** Each round sends about 60 KB: 9 MB, of which the recorded events, their texts cut off, are a small part. */
const keptMbMax = 2

/** Different in each round, as an attacker would choose it. */
const long = (round: number): string => `${round}`.padEnd(60_000, 'x')
const podsPath = '/api/v1/namespaces/default/pods'
const spanOf = (round: number) => `00-${`${round}`.padStart(32, '0')}-0000000000000001-01`
/** A part of one long text, as the parser of HTTP/1.1 cuts headers from the head of a request. */
const cut = (round: number, value: string): string => `${value}${long(round)}`.slice(0, value.length)

interface Sent {
  readonly method?: string
  readonly path: string
  readonly headers?: Record<string, string>
}
const requests: Readonly<Record<string, (round: number) => Sent>> = {
  'the name of an object': (round) => ({ path: `${podsPath}/${long(round)}` }),
  'a namespace': (round) => ({ path: `/api/v1/namespaces/${long(round)}/pods` }),
  'a short name in a long URL': (round) => ({ path: `${podsPath}/a-name-of-${round}-characters?x=${long(round)}` }),
  'an unknown resource': (round) => ({ path: `/api/v1/namespaces/default/${long(round)}/web` }),
  'an unknown group': (round) => ({ path: `/apis/${long(round)}/v1/namespaces/default/pods` }),
  'another path': (round) => ({ path: `/${long(round)}` }),
  'a resource of an extension': (round) => ({ path: `/apis/garden.example/v1/${long(round)}` }),
  'many resources of an extension': (round) => ({
    path: `/apis/garden.example/v1/trees-of-${round}/x?y=${long(round)}`,
  }),
  'a subresource of an extension': (round) => ({ path: `/apis/garden.example/v1/trees/oak/${long(round)}` }),
  dryRun: (round) => ({ path: `${podsPath}?dryRun=${long(round)}`, method: 'POST' }),
  fieldValidation: (round) => ({ path: `${podsPath}?fieldValidation=${long(round)}`, method: 'POST' }),
  'the method': (round) => ({ path: podsPath, method: long(round) }),
  'the User-Agent': (round) => ({ path: podsPath, headers: { 'user-agent': long(round) } }),
  'the User-Agent of a component': (round) => ({
    path: podsPath,
    headers: { 'user-agent': `coxswain:kubelet/${long(round)}` },
  }),
  'a short User-Agent in a long head': (round) => ({
    path: podsPath,
    headers: { 'user-agent': cut(round, `a-program-of-${round}-characters`) },
  }),
  'a traceparent in a long head': (round) => ({ path: podsPath, headers: { traceparent: cut(round, spanOf(round)) } }),
  'the revisions that woke the client': (round) => ({
    path: podsPath,
    headers: { 'coxswain-woken-by': `1${'0'.repeat(60_000)}${round}` },
  }),
  'an audit id': (round) => ({ path: podsPath, headers: { 'audit-id': long(round) } }),
  'a bearer token': (round) => ({ path: podsPath, headers: { authorization: `Bearer ${long(round)}` } }),
  'a token of a ServiceAccount': (round) => ({
    path: podsPath,
    headers: { authorization: `Bearer ${long(round)}.${long(round)}.x` },
  }),
  'a session': (round) => ({ path: podsPath, headers: { cookie: `coxswain-session=${long(round)}` } }),
  'another user': (round) => ({ path: podsPath, headers: { 'impersonate-user': long(round) } }),
}

const extension = {
  metadata: { name: 'v1.garden.example' },
  spec: {
    group: 'garden.example',
    version: 'v1',
    groupPriorityMinimum: 100,
    versionPriority: 100,
    service: { namespace: 'default', name: 'garden' },
    insecureSkipTLSVerify: true,
  },
}

const server = await startGuarded()
after(() => server[Symbol.asyncDispose]())
equal((await server.call('POST', '/apis/apiregistration.k8s.io/v1/apiservices', extension)).status, 201)

for (const [what, requestOf] of Object.entries(requests))
  test(`${what}, sent without credentials, is not kept`, async () => {
    const first = server.flow.last + 1
    let round = 0
    const send = async (count: number) => {
      for (let sent = 0; sent < count; sent++) {
        const { method = 'GET', path, headers = {} } = requestOf(round++)
        const { status } = await server.call(method, path, undefined, { ...headers, anonymous: '' })
        ok(status === 401 || status === 403, `${status}`)
      }
      for (let pass = 0; pass < collections; pass++) collect()
      return process.memoryUsage().heapUsed / (1 << 20)
    }
    const before = await send(warmUpRounds)
    const keptMb = (await send(rounds)) - before
    ok(keptMb < keptMbMax, `${keptMb.toFixed(1)} MB`)
    for (const { from, what: name, object } of server.flow.events(first as FlowId)) {
      ok(from.length <= flowTextCharsMax && name.length <= flowTextCharsMax)
      equal(object?.name.includes('xxx') ?? false, false)
    }
    const { status, body } = await server.call('GET', '/metrics')
    equal(status, 200)
    const lines = (body as string).split('\n')
    deepEqual(
      lines.filter((line) => line.includes('xxx') || line.includes('trees-of')),
      [],
    )
  })
