import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { TaskGroup } from '../../base/async/task-group.ts'
import { silentLog } from '../../base/observability/log.ts'
import { seededRandom } from '../../base/random/random.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { responseCode } from '../message/header.ts'
import { recordType } from '../message/record.ts'
import { Forwarder, type ForwarderLimits } from './forwarder.ts'
import {
  addressAnswer,
  answersAll,
  authorityOf,
  responseTo,
  ScriptedUpstream,
  type UpstreamScript,
} from './upstream.harness.ts'

const peers = (...addresses: readonly string[]) => addresses.map((address) => ({ address, port: 53 }))
const questionOf = (name: string, parts: { type?: number; dnssecOk?: boolean } = {}) => ({
  question: { name, type: parts.type ?? recordType.A },
  dnssecOk: parts.dnssecOk ?? false,
  checkingDisabled: false,
})

function forwarderOf(
  script: UpstreamScript,
  { servers = ['s1'], limits = {} }: { servers?: readonly string[]; limits?: Partial<ForwarderLimits> } = {},
) {
  const clock = new VirtualClock()
  const tasks = new TaskGroup()
  const upstream = new ScriptedUpstream(script)
  const counted: string[] = []
  const forwarder = new Forwarder(
    {
      sockets: upstream,
      clock,
      random: seededRandom(1),
      log: silentLog,
      servers: peers(...servers),
      limits: {
        queriesMax: 10,
        queriesPerClientMax: 5,
        cache: { entriesMax: 100, bytesMax: 1 << 20 },
        ...limits,
      },
      metrics: {
        cacheHit: (isDenial) => void counted.push(isDenial ? 'hit denial' : 'hit'),
        cacheMiss: () => void counted.push('miss'),
        rejected: () => void counted.push('rejected'),
        upstreamResponded: (server, code) => void counted.push(`${server.address} responded ${code}`),
      },
    },
    tasks,
  )
  const resolve = async (name: string, client = 'c1') => forwarder.resolve(questionOf(name), client)
  return { clock, tasks, upstream, forwarder, resolve, counted }
}

const addresses = ({ answers }: { answers: readonly { data: object }[] }) =>
  answers.map(({ data }) => ('address' in data ? data.address : data))

describe('a forwarded query', () => {
  test('gets the response of the first server', async () => {
    const { resolve, upstream, counted } = forwarderOf(answersAll, { servers: ['s1', 's2'] })
    const { code, answers } = await resolve('www.example.com')
    assert.deepEqual([code, answers], [0, [addressAnswer('www.example.com')]])
    assert.deepEqual(upstream.log, ['s1 udp www.example.com'])
    assert.deepEqual(counted, ['miss', 's1 responded 0'])
    assert.equal(upstream.openSockets, 0)
  })

  test('fails at once without upstream servers', () => {
    const { forwarder } = forwarderOf(answersAll, { servers: [] })
    const resolution = forwarder.resolve(questionOf('www.example.com'), 'c1')
    assert.ok(!(resolution instanceof Promise))
    assert.equal(resolution.code, responseCode.serverFailure)
  })

  test('has a random id and requests recursion', async () => {
    const { resolve, upstream } = forwarderOf(answersAll)
    for (const name of ['a', 'b', 'c', 'd']) await resolve(name)
    assert.equal(new Set(upstream.calls.map(({ query }) => query.id)).size, 4)
    assert.ok(upstream.calls.every(({ query }) => query.flags === 0x0100 && query.edns?.udpBytes === 1232))
  })

  const failures: readonly [string, UpstreamScript][] = [
    ['is silent', () => []],
    ['cannot be reached', () => 'unreachable'],
    ['fails', ({ query }) => [responseTo(query, { code: responseCode.serverFailure })]],
    ['refuses', ({ query }) => [responseTo(query, { code: responseCode.refused })]],
    ['sends garbage', () => [Uint8Array.of(1, 2, 3)]],
    [
      'responds to another question',
      ({ query }) => [
        responseTo({
          ...query,
          question: { ...query.question, name: 'x' },
          questionBytes: Uint8Array.of(1, 120, 0, 0, 1, 0, 1),
        }),
      ],
    ],
    [
      'responds with another id',
      ({ query }) => [responseTo({ ...query, id: query.id ^ 1 }, { answers: [addressAnswer('a', '6.6.6.6')] })],
    ],
  ]
  for (const [name, script] of failures)
    test(`goes to the next server if one ${name}`, async () => {
      const both: UpstreamScript = (call) => (call.server === 's1' ? script(call) : answersAll(call))
      const { resolve, upstream, clock } = forwarderOf(both, { servers: ['s1', 's2'] })
      const resolution = resolve('www.example.com')
      await clock.advance('2s')
      assert.deepEqual(addresses(await resolution), ['192.0.2.1'])
      assert.deepEqual(upstream.log, ['s1 udp www.example.com', 's2 udp www.example.com'])
      assert.equal(upstream.openSockets, 0)
    })

  test('ignores a forged response before the true one', async () => {
    const { resolve } = forwarderOf(({ query }) => [
      responseTo({ ...query, id: query.id ^ 1 }, { answers: [addressAnswer('a', '6.6.6.6')] }),
      responseTo(query, { answers: [addressAnswer('a')] }),
    ])
    assert.deepEqual(addresses(await resolve('a')), ['192.0.2.1'])
  })

  test('fails in less than five seconds if all servers are silent', async () => {
    const { resolve, upstream, clock } = forwarderOf(() => [], { servers: ['s1', 's2'] })
    const resolution = resolve('a')
    await clock.advance('4500ms')
    assert.equal((await resolution).code, responseCode.serverFailure)
    assert.deepEqual(upstream.log, ['s1 udp a', 's2 udp a', 's1 udp a'])
  })

  test('prefers servers that have not failed recently', async () => {
    const { resolve, upstream, clock } = forwarderOf(
      (call) => (call.server === 's1' ? 'unreachable' : answersAll(call)),
      {
        servers: ['s1', 's2'],
      },
    )
    await resolve('a')
    await resolve('b')
    await clock.advance('11s')
    await resolve('c')
    assert.deepEqual(upstream.log, ['s1 udp a', 's2 udp a', 's2 udp b', 's1 udp c', 's2 udp c'])
  })

  test('is repeated over TCP if the response is truncated', async () => {
    const answers = Array.from({ length: 200 }, (_, index) => addressAnswer('big', `10.0.0.${index}`))
    const { resolve, upstream } = forwarderOf(({ transport, query }) => [
      responseTo(query, { answers }, transport === 'udp' ? 512 : 65_535),
    ])
    assert.equal((await resolve('big')).answers.length, 200)
    assert.deepEqual(upstream.log, ['s1 udp big', 's1 tcp big'])
    assert.equal(upstream.openSockets, 0)
  })

  test('does not wait for the tasks of a stopped server', async () => {
    const { resolve, tasks } = forwarderOf(() => [])
    const waiting = resolve('a')
    tasks.stop()
    assert.equal((await waiting).code, responseCode.serverFailure)
    assert.equal((await resolve('b')).code, responseCode.serverFailure)
    await tasks.join()
  })
})

describe('equal and concurrent queries', () => {
  test('share one upstream query', async () => {
    const { resolve, upstream } = forwarderOf(answersAll)
    const all = await Promise.all([resolve('a', 'c1'), resolve('a', 'c2'), resolve('a', 'c3')])
    assert.deepEqual(all.map(addresses), [['192.0.2.1'], ['192.0.2.1'], ['192.0.2.1']])
    assert.deepEqual(upstream.log, ['s1 udp a'])
  })

  test('are refused beyond the limit of a client, but not for others', async () => {
    const { resolve, clock, counted } = forwarderOf(() => [])
    const names = ['a', 'b', 'c', 'd', 'e']
    const waiting = names.map((name) => resolve(name, 'c1'))
    assert.equal((await resolve('f', 'c1')).code, responseCode.refused)
    const other = resolve('f', 'c2')
    await clock.advance('5s')
    assert.deepEqual(
      (await Promise.all([...waiting, other])).map(({ code }) => code),
      [2, 2, 2, 2, 2, 2],
    )
    assert.equal(counted.filter((word) => word === 'rejected').length, 1)
    const again = resolve('f', 'c1')
    await clock.advance('5s')
    assert.equal((await again).code, responseCode.serverFailure)
  })

  test('are refused beyond the limit in total, unless they share a query', async () => {
    const { resolve, clock } = forwarderOf(() => [], { limits: { queriesMax: 2 } })
    const waiting = [resolve('a', 'c1'), resolve('b', 'c2'), resolve('a', 'c3')]
    assert.equal((await resolve('c', 'c4')).code, responseCode.refused)
    await clock.advance('5s')
    assert.deepEqual(
      (await Promise.all(waiting)).map(({ code }) => code),
      [2, 2, 2],
    )
  })
})

describe('the cache', () => {
  test('responds until the time to live ends, with reduced times', async () => {
    const { resolve, upstream, clock, counted } = forwarderOf(answersAll)
    await resolve('a')
    await clock.advance('59s')
    assert.deepEqual((await resolve('a')).answers, [addressAnswer('a', '192.0.2.1', 1)])
    assert.deepEqual(upstream.log.length, 1)
    await clock.advance('1s')
    await resolve('a')
    assert.deepEqual(upstream.log.length, 2)
    assert.deepEqual(counted.filter((word) => word === 'hit').length, 1)
  })

  test('keeps a denial as long as the SOA record allows', async () => {
    const { resolve, upstream, clock, counted } = forwarderOf(({ query }) => [
      responseTo(query, { code: responseCode.nameError, authority: [authorityOf('example.com', 300, 20)] }),
    ])
    assert.equal((await resolve('a.example.com')).code, responseCode.nameError)
    await clock.advance('19s')
    assert.equal((await resolve('a.example.com')).code, responseCode.nameError)
    assert.equal(upstream.log.length, 1)
    await clock.advance('1s')
    await resolve('a.example.com')
    assert.equal(upstream.log.length, 2)
    assert.ok(counted.includes('hit denial'))
  })

  test('keeps neither failures nor denials without an SOA record', async () => {
    for (const code of [responseCode.nameError, responseCode.serverFailure, responseCode.noError]) {
      const { resolve, upstream } = forwarderOf(({ query }) => [responseTo(query, { code })])
      await resolve('a')
      await resolve('a')
      assert.equal(upstream.log.length, 2)
    }
  })

  test('separates types and DNSSEC', async () => {
    const { forwarder, upstream } = forwarderOf(answersAll)
    await forwarder.resolve(questionOf('a'), 'c1')
    await forwarder.resolve(questionOf('a', { type: recordType.AAAA }), 'c1')
    await forwarder.resolve(questionOf('a', { dnssecOk: true }), 'c1')
    assert.equal(upstream.log.length, 3)
    assert.equal(upstream.calls[2]?.query.edns?.dnssecOk, true)
  })
})

describe('a loop', () => {
  test('is found: a server that returns the probe is not used again', async () => {
    const { forwarder, upstream, resolve, clock } = forwarderOf(
      (call) => {
        if (call.server !== 's1') return answersAll(call)
        void forwarder.resolve(questionOf(call.query.question.name), 's1')
        return []
      },
      { servers: ['s1', 's2'] },
    )
    const probes = forwarder.findLoops(new AbortController().signal)
    await clock.advance('5s')
    await probes
    const before = upstream.log.length
    await resolve('www.example.com')
    assert.deepEqual(upstream.log.slice(before), ['s2 udp www.example.com'])
  })
})
