import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { MaybePromise } from '../../base/async/maybe-promise.ts'
import { silentLog } from '../../base/observability/log.ts'
import { Metrics } from '../../base/observability/metrics.ts'
import { seededRandom } from '../../base/random/random.ts'
import { realClock } from '../../base/time/clock.ts'
import type { ForwardedQuestion } from '../forwarder/upstream-exchange.ts'
import type { Resolution } from '../forwarder/response-cache.ts'
import { addressAnswer } from '../forwarder/upstream.harness.ts'
import { decodeResponse } from '../message/decode-response.ts'
import { readUint16, responseCodeName } from '../message/header.ts'
import { recordType } from '../message/record.ts'
import { opt, queryBytes, type QueryParts } from '../message/message.harness.ts'
import { namedPort, recordText, serviceOf, sliceOf, zoneOf } from '../records/zone.harness.ts'
import { dnsMetrics } from './dns-metrics.ts'
import { QueryHandler } from './query-handler.ts'

const headless = serviceOf('peers', { clusterIP: 'None', ports: [namedPort('http', 80)] })
const many = sliceOf(
  'peers',
  Array.from({ length: 100 }, (_, index) => `10.0.0.${index}`),
)
const clusterZone = zoneOf(
  ...[serviceOf('web', { clusterIP: '10.96.0.10' }), headless, many],
  ...[serviceOf('outside', { type: 'ExternalName', externalName: 'www.example.com' })],
  ...[serviceOf('loop', { type: 'ExternalName', externalName: 'loop.default.svc.cluster.local' })],
)

const resolved = (name: string): Resolution => ({
  code: 0,
  answers: [addressAnswer(name)],
  authority: [],
  additional: [],
})

function handlerOf({
  zone = clusterZone,
  isReady = true,
  resolve = ({ question }: ForwardedQuestion): MaybePromise<Resolution> => resolved(question.name),
} = {}) {
  const metrics: Metrics = new Metrics()
  const forwarded: ForwardedQuestion[] = []
  const handler = new QueryHandler({
    zone,
    isReady: () => isReady,
    clock: realClock,
    random: seededRandom(1),
    log: silentLog,
    forwarder: {
      resolve(question) {
        forwarded.push(question)
        return resolve(question)
      },
    },
    metrics: dnsMetrics(metrics, 'cluster.local', 53),
  })
  return { handler, metrics, forwarded }
}

async function ask(parts: QueryParts, options: Parameters<typeof handlerOf>[0] = {}, transport: 'udp' | 'tcp' = 'udp') {
  const bytes = await handlerOf(options).handler.respond(queryBytes(parts), transport, '10.0.0.9')
  return bytes
}

function responseText(bytes: Uint8Array | undefined): string[] {
  if (bytes === undefined) return ['no response']
  const code = responseCodeName[(readUint16(bytes, 2) & 0xf) as 0] ?? ''
  const decoded = decodeResponse(bytes)
  if (decoded === undefined) return [code]
  const { answers, authority } = decoded
  return [
    responseCodeName[decoded.responseCode] ?? '',
    ...answers.map(recordText),
    ...authority.map((record) => `authority ${recordText(record)}`),
  ]
}

const svc = 'svc.cluster.local'
const soa = 'authority cluster.local 5 SOA ns.dns.cluster.local hostmaster.cluster.local 5'

const rows: readonly [string, QueryParts, readonly string[]][] = [
  ['a Service', { name: `web.default.${svc}` }, ['NOERROR', `web.default.${svc} 30 A 10.96.0.10`]],
  ['a name without records of the type', { name: `web.default.${svc}`, type: 'AAAA' }, ['NOERROR', soa]],
  ['a name that does not exist', { name: `missing.default.${svc}` }, ['NXDOMAIN', soa]],
  [
    'an alias to another zone',
    { name: `outside.default.${svc}` },
    ['NOERROR', `outside.default.${svc} 30 CNAME www.example.com`, 'www.example.com 60 A 192.0.2.1'],
  ],
  ['aliases in a circle', { name: `loop.default.${svc}` }, ['SERVFAIL']],
  ['another zone', { name: 'www.example.com' }, ['NOERROR', 'www.example.com 60 A 192.0.2.1']],
  ['letters in another case', { name: `WEB.Default.${svc}` }, ['NOERROR', `web.default.${svc} 30 A 10.96.0.10`]],
  ['another class', { class: 3 }, ['REFUSED']],
  ['a transfer', { name: 'cluster.local', type: 'AXFR' }, ['REFUSED']],
  ['an incremental transfer', { name: 'cluster.local', type: 'IXFR' }, ['REFUSED']],
  ['a type that is not of records', { type: 'OPT' }, ['NOTIMP']],
  ['another opcode', { flags: 0x2800 }, ['NOTIMP']],
  ['two questions', { counts: [2, 0, 0, 0] }, ['FORMERR']],
  ['a later version of EDNS', { rest: opt(1232, { version: 1 }) }, ['BADVERS']],
  [
    'all records',
    { name: `web.default.${svc}`, type: 'ANY' },
    ['NOERROR', `web.default.${svc} 3600 HINFO 075246433834383200`],
  ],
  ['all records of a name that does not exist', { name: `missing.default.${svc}`, type: 'ANY' }, ['NXDOMAIN', soa]],
  ['a response', { flags: 0x8180 }, ['no response']],
]

describe('a query about', () => {
  for (const [name, parts, expected] of rows)
    test(name, async () => assert.deepEqual(responseText(await ask(parts)), expected))
})

describe('a response', () => {
  test('repeats the letters of the question', async () => {
    const bytes = await ask({ name: `WeB.default.${svc}` })
    assert.equal(new TextDecoder().decode(bytes?.subarray(13, 16)), 'WeB')
  })

  test('is authoritative only in the zone', async () => {
    const isAuthoritative = async (name: string) =>
      (readUint16((await ask({ name })) ?? new Uint8Array(4), 2) & 0x0400) !== 0
    assert.equal(await isAuthoritative(`web.default.${svc}`), true)
    assert.equal(await isAuthoritative(`missing.default.${svc}`), true)
    assert.equal(await isAuthoritative('www.example.com'), false)
  })

  test('to a repeated query has its id, and changes with the Service', async () => {
    const [before, after] = ['10.96.0.10', '10.96.0.11'].map((clusterIP) => serviceOf('changing', { clusterIP }))
    const own = zoneOf(before ?? headless)
    const { handler, metrics } = handlerOf({ zone: own })
    const name = `changing.default.${svc}`
    const askWith = async (id: number) =>
      (await handler.respond(queryBytes({ name, id }), 'udp', '10.0.0.9')) ?? new Uint8Array(0)
    const first = await askWith(1)
    const second = await askWith(2)
    assert.deepEqual(responseText(second), responseText(first))
    assert.deepEqual([readUint16(first, 0), readUint16(second, 0)], [1, 2])
    own.setService(before, after)
    assert.match(responseText(await askWith(3)).join(), /10\.96\.0\.11/)
    assert.match(metrics.text(), /coredns_dns_requests_total\{.*type="A".*\} 3\n/)
  })

  test('has addresses in random order', async () => {
    const { handler } = handlerOf()
    const firsts = new Set<string | undefined>()
    for (let count = 0; count < 20; count++) {
      const bytes = await handler.respond(queryBytes({ name: `peers.default.${svc}` }), 'udp', '10.0.0.9')
      firsts.add(responseText(bytes)[1])
    }
    assert.ok(firsts.size > 5, `${firsts.size} different first addresses`)
  })

  test('is truncated over UDP and complete over TCP', async () => {
    const udp = await ask({ name: `peers.default.${svc}` })
    const tcp = await ask({ name: `peers.default.${svc}` }, {}, 'tcp')
    const [short, long] = [udp, tcp].map((bytes) => decodeResponse(bytes ?? new Uint8Array(0)))
    assert.equal(short?.isTruncated, true)
    assert.equal(long?.isTruncated, false)
    assert.equal(new Set(long?.answers.map(recordText)).size, 100)
  })
})

describe('a response that would be larger than any message', () => {
  const ports = Array.from({ length: 2_000 }, (_, index) => namedPort(`p${index}`, index + 1))
  const addresses = Array.from({ length: 1_000 }, (_, index) => `10.1.${index >> 8}.${index & 255}`)
  const large = zoneOf(
    headless,
    ...Array.from({ length: 6 }, (_, index) =>
      sliceOf(
        'peers',
        addresses.map((each) => each.replace('10.1', `10.${index}`)),
        { ports, name: `peers-${index}` },
      ),
    ),
  )
  const rowsLarge = [
    ['SRV records of every port of every endpoint', `peers.default.${svc}`, 'SRV', 1_200],
    ['SRV records of one port', `_p1._tcp.peers.default.${svc}`, 'SRV', 1_200],
    ['addresses', `_p1._tcp.peers.default.${svc}`, 'A', 4_096],
  ] as const
  for (const [name, asked, type, recordsMax] of rowsLarge)
    test(`${name}: built only as far as a message goes, and truncated`, async () => {
      const answer = large.lookup(asked, recordType[type])
      assert.ok(
        answer.kind === 'records' && answer.records.length <= recordsMax && answer.additional.length <= recordsMax,
      )
      const response = decodeResponse((await ask({ name: asked, type }, { zone: large }, 'tcp')) ?? new Uint8Array(0))
      assert.equal(response?.isTruncated, true)
    })
})

describe('before the objects of the cluster are known', () => {
  const rowsUnready: readonly [string, string][] = [
    [`web.default.${svc}`, 'SERVFAIL'],
    ['10.0.96.10.in-addr.arpa', 'SERVFAIL'],
    ['www.example.com', 'NOERROR'],
  ]
  for (const [name, expected] of rowsUnready)
    test(`${name}: ${expected}`, async () =>
      assert.equal(responseText(await ask({ name }, { isReady: false }))[0], expected))
})

describe('a forwarded query', () => {
  test('waits for the upstream server', async () => {
    const { promise, resolve } = Promise.withResolvers<Resolution>()
    const response = handlerOf({ resolve: () => promise }).handler.respond(
      queryBytes({ name: 'a.example' }),
      'udp',
      '::1',
    )
    assert.ok(response instanceof Promise)
    resolve(resolved('a.example'))
    assert.deepEqual(responseText(await response), ['NOERROR', 'a.example 60 A 192.0.2.1'])
  })

  test('passes DNSSEC flags on', async () => {
    const { handler, forwarded } = handlerOf()
    await handler.respond(
      queryBytes({ name: 'a.example', flags: 0x0110, rest: opt(1232, { dnssecOk: true }) }),
      'udp',
      '::1',
    )
    assert.deepEqual(
      forwarded.map(({ dnssecOk, checkingDisabled }) => [dnssecOk, checkingDisabled]),
      [[true, true]],
    )
  })

  for (const [name, resolve] of [
    [
      'throws',
      () => {
        throw new Error('a defect')
      },
    ],
    ['rejects', () => Promise.reject(new Error('a defect'))],
  ] as const)
    test(`fails if the forwarder ${name}`, async () => {
      const { handler, metrics } = handlerOf({ resolve })
      assert.deepEqual(responseText(await handler.respond(queryBytes({ name: 'a.example' }), 'udp', '::1')), [
        'SERVFAIL',
      ])
      assert.match(metrics.text(), /^coredns_panics_total 1$/m)
    })
})

test('queries are counted with the labels of CoreDNS', async () => {
  const { handler, metrics } = handlerOf()
  await handler.respond(queryBytes({ name: `web.default.${svc}` }), 'udp', '10.0.0.9')
  await handler.respond(queryBytes({ name: `web.default.${svc}` }), 'udp', '10.0.0.9')
  await handler.respond(queryBytes({ name: 'a.example', type: 'AAAA' }), 'tcp', 'fd00::1')
  await handler.respond(queryBytes({ counts: [0, 0, 0, 0] }), 'udp', '10.0.0.9')
  const lines = metrics.text().split('\n')
  for (const line of [
    'coredns_dns_requests_total{server="dns://:53",zone="cluster.local.",view="",proto="udp",family="1",type="A"} 2',
    'coredns_dns_requests_total{server="dns://:53",zone=".",view="",proto="tcp",family="2",type="AAAA"} 1',
    'coredns_dns_requests_total{server="dns://:53",zone=".",view="",proto="udp",family="1",type="other"} 1',
    'coredns_dns_responses_total{server="dns://:53",zone="cluster.local.",view="",rcode="NOERROR",plugin="kubernetes"} 2',
    'coredns_dns_responses_total{server="dns://:53",zone=".",view="",rcode="FORMERR",plugin="forward"} 1',
    'coredns_dns_request_duration_seconds_count{server="dns://:53",zone="cluster.local.",view=""} 2',
  ])
    assert.ok(lines.includes(line), line)
})

test('the cache and upstream servers are counted with the labels of CoreDNS', () => {
  const metrics = new Metrics()
  const counted = dnsMetrics(metrics, 'cluster.local', 53)
  counted.cacheHit(true)
  counted.cacheHit(false)
  counted.cacheMiss()
  counted.rejected()
  counted.upstreamResponded({ address: 'fd00::1', port: 53 }, 3, 2)
  const lines = metrics.text().split('\n')
  for (const line of [
    'coredns_cache_requests_total{server="dns://:53",zones=".",view=""} 3',
    'coredns_cache_hits_total{type="denial",server="dns://:53",zones=".",view=""} 1',
    'coredns_cache_hits_total{type="success",server="dns://:53",zones=".",view=""} 1',
    'coredns_cache_misses_total{server="dns://:53",zones=".",view=""} 1',
    'coredns_forward_max_concurrent_rejects_total 1',
    'coredns_proxy_request_duration_seconds_count{proxy_name="forward",to="[fd00::1]:53",rcode="NXDOMAIN"} 1',
  ])
    assert.ok(lines.includes(line), line)
})
