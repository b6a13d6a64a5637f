// What requests are measured by beside their duration: the filters, the field validation, and terminations by the server.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import type { Policies } from '../filters/policies.ts'
import { openPolicies } from '../open-policies.ts'
import { TooManyRequests } from '../request/too-many-requests.ts'
import { startServer, type Harness } from '../server.harness.ts'

const maps = '/api/v1/namespaces/default/configmaps'

async function linesOf(server: Harness, name: RegExp): Promise<string[]> {
  const { body } = await server.call('GET', '/metrics')
  return (body as string).split('\n').filter((line) => name.test(line))
}

test('each filter that a request passes is measured', async () => {
  const clock = new VirtualClock()
  let sleepMs = 0
  const policies: Policies = {
    ...openPolicies,
    async authenticate(request) {
      if (sleepMs > 0 && request.target.kind === 'resource') await clock.sleep(sleepMs, request.context.signal)
      return openPolicies.authenticate(request)
    },
  }
  await using server = await startServer(policies, { clock })
  const values = async () => {
    const lines = await linesOf(server, /^apiserver_request_filter_duration_seconds_(sum|count)/)
    return new Map(
      lines.map((line) => [line.replace(/^.*_(\w+)\{filter="(\w+)"\}.*$/, '$2 $1'), Number(line.split(' ')[1])]),
    )
  }
  const before = await values()
  sleepMs = 3_000
  const listed = server.call('GET', maps)
  await clock.advance(sleepMs)
  equal((await listed).status, 200)
  const after = await values()
  const grown = (name: string) => (after.get(name) ?? 0) - (before.get(name) ?? 0)
  for (const filter of [
    'audit',
    'authentication',
    'authorization',
    'constrainedimpersonation',
    'priorityandfairness',
  ]) {
    equal(grown(`${filter} count`), 2, filter) // the list and the second scrape
    equal(grown(`${filter} sum`), filter === 'authentication' ? 3 : 0, filter)
  }
})

test('writes are measured by their field validation', async () => {
  await using server = await startServer()
  const counts = async () =>
    new Map(
      (await linesOf(server, /^field_validation_request_duration_seconds_count/)).map((line) => [
        line.replace(/^.*="(\w*)".*$/, '$1'),
        Number(line.split(' ')[1]),
      ]),
    )
  const before = (await counts()).get('') ?? 0
  for (const [index, sent] of ['Strict', 'Warn', 'Ignore', 'bogus'].entries())
    await server.call('POST', `${maps}?fieldValidation=${sent}`, { metadata: { name: `m${index}` } })
  await server.call('POST', maps, { metadata: { name: 'plain' } })
  await server.call('GET', maps)
  await server.call('DELETE', `${maps}/plain`)
  const own = { '': before + 1, Strict: 1, Warn: 1, Ignore: 1, invalid: 1 }
  deepEqual(Object.fromEntries(await counts()), own)
})

test('requests that the server ends are counted; other errors with the same code are not', async () => {
  const clock = new VirtualClock()
  let state: 'free' | 'full' | 'slow' = 'free'
  const policies: Policies = {
    ...openPolicies,
    seatOf(request) {
      if (request.target.kind === 'path' || state === 'free') return openPolicies.seatOf(request)
      if (state === 'full') throw new TooManyRequests('fairness')
      return { isExempt: false, take: () => clock.sleep(10_000, request.context.signal).then(() => () => {}) }
    },
  }
  await using server = await startServer(policies, { clock })
  state = 'full'
  equal((await server.call('GET', maps)).status, 429)
  state = 'free'
  equal((await server.call('GET', `${maps}/missing`)).status, 404)
  state = 'slow'
  const late = server.call('POST', `${maps}?timeout=1s`, { metadata: { name: 'a' } })
  await clock.advance(2_000)
  equal((await late).status, 504)
  const line = (verb: string, scope: string, code: number) =>
    `apiserver_request_terminations_total{verb="${verb}",group="",version="v1",resource="configmaps",subresource="",scope="${scope}",component="apiserver",code="${code}"} 1`
  deepEqual(await linesOf(server, /^apiserver_request_terminations_total/), [
    line('LIST', 'namespace', 429),
    line('POST', 'resource', 504),
  ])
  deepEqual(await linesOf(server, /^coxswain_rejected_requests_total/), [
    'coxswain_rejected_requests_total{limit="fairness"} 1',
  ])
})

test('requested deprecated APIs are shown, and warned about in every response', async () => {
  await using server = await startServer()
  const path = '/api/v1/namespaces/default/endpoints'
  const deprecated = async () =>
    ((await server.call('GET', '/metrics')).body as string)
      .split('\n')
      .filter((line) => line.startsWith('apiserver_requested_deprecated_apis{'))
  deepEqual(await deprecated(), [])
  for (const [method, target, status] of [
    ['GET', path, 200],
    ['GET', `${path}/missing`, 404],
    ['GET', '/api/v1/namespaces/default/configmaps', 200],
  ] as const) {
    const response = await server.call(method, target)
    equal(response.status, status)
    const warning = '299 - "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"'
    deepEqual(response.headers['warning'], target.startsWith(path) ? [warning] : undefined)
  }
  deepEqual(await deprecated(), [
    'apiserver_requested_deprecated_apis{group="",removed_release="",resource="endpoints",subresource="",version="v1"} 1',
  ])
})
