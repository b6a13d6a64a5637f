// The DNS server: its responses are well-formed messages whatever texts the objects of its records contain.
import { deepEqual, match } from 'node:assert/strict'
import { test } from 'node:test'
import { TaskGroup } from '../../src/base/async/task-group.ts'
import { silentLog } from '../../src/base/observability/log.ts'
import { Metrics } from '../../src/base/observability/metrics.ts'
import { seededRandom } from '../../src/base/random/random.ts'
import { VirtualClock } from '../../src/base/time/virtual-clock.ts'
import { namespace } from '../../src/api/core/v1/namespace.ts'
import { service } from '../../src/api/core/v1/service/service.ts'
import { endpointSlice } from '../../src/api/discovery/v1/endpoint-slice.ts'
import { startDns } from '../../src/cluster/node/start-dns.ts'
import { memorySockets } from '../../src/cluster/components/sockets.harness.ts'
import { Informers } from '../../src/client/informer/informers.ts'
import { queryBytes, type QueryParts } from '../../src/dns/message/message.harness.ts'
import { dnsMetrics } from '../../src/dns/server/dns-metrics.ts'
import type { Kind } from '../../src/api/kind/kind.ts'
import * as base from './base-objects.ts'
import { targetViolations, type Violation } from './checks.ts'
import { dnsMessageFault } from './dns-message.ts'
import { recordedApi, type KindObjects } from './recorded-api.ts'
import { reportOf, variantsOf, type BaseObject } from './variants.ts'

const domain = 'cluster.local'
const plain: KindObjects = [
  { kind: namespace, object: base.namespaceOf(0) },
  { kind: service, object: base.serviceOf(0) },
  { kind: endpointSlice, object: base.endpointSliceOf(0) },
]

/** What clients ask for about a Service with this number. */
function queriesAbout(index: number): readonly QueryParts[] {
  const name = `web-${index}.default.svc.${domain}`
  const reverse = (address: string) => `${address.split('.').toReversed().join('.')}.in-addr.arpa`
  const { clusterIP = '' } = (base.serviceOf(index) as { readonly spec: { readonly clusterIP?: string } }).spec
  return [
    ...(['A', 'AAAA', 'SRV', 'CNAME'] as const).map((type) => ({ name, type })),
    { name: `_http._tcp.${name}`, type: 'SRV' },
    { name: `web-${index}.${name}`, type: 'A' },
    { name: reverse(clusterIP), type: 'PTR' },
    { name: reverse(clusterIP.replace('10.96', '10.213')), type: 'PTR' },
  ]
}

async function effectsOf(objects: KindObjects, numbers: readonly number[]) {
  const clock = new VirtualClock(Date.parse('2030-01-01T00:00:00Z'))
  const api = recordedApi([...plain, ...objects])
  const sockets = memorySockets()
  const shared = { clock, random: seededRandom(1), log: silentLog }
  const responses: { readonly index: number; readonly bytes: Uint8Array }[] = []
  await using tasks = new TaskGroup()
  const informers = new Informers(api.client, shared, tasks)
  const listen = [{ address: '10.213.0.1', port: 53 }]
  const metrics = dnsMetrics(new Metrics(), domain, 53)
  await startDns({ ...shared, informers, sockets, metrics, listen, domain, upstreamServers: [] }, tasks)
  await clock.advance('1s')
  for (const index of [0, ...numbers])
    for (const query of queriesAbout(index))
      responses.push({ index, bytes: await sockets.exchange('10.213.0.1:53', queryBytes(query)) })
  return { api, responses }
}

const violationsIn = ({ api, responses }: Awaited<ReturnType<typeof effectsOf>>): Violation[] => [
  ...responses.flatMap(({ index, bytes }) => {
    const fault = dnsMessageFault(bytes)
    return fault === undefined ? [] : [{ index, text: `${fault}: ${bytes.toHex()}` }]
  }),
  ...[...api.targets].flatMap(targetViolations),
]

const specOf = (object: object): object => (object as { readonly spec: object }).spec
const withoutAddress: BaseObject = (index) => {
  const made = base.serviceOf(index)
  return { ...made, spec: { ...specOf(made), type: 'ClusterIP', clusterIP: 'None', clusterIPs: ['None'] } }
}
const withName: BaseObject = (index) => ({
  ...base.serviceOf(index),
  spec: { type: 'ExternalName', externalName: 'web.example', sessionAffinity: 'None' },
})
const slice = (index: number) => ({ kind: endpointSlice, object: base.endpointSliceOf(index) })
const headless = (index: number) => ({ kind: service, object: withoutAddress(index) })

const kinds: readonly (readonly [what: string, Kind, BaseObject, (index: number) => KindObjects])[] = [
  ['a Service', service, base.serviceOf, (index) => [slice(index)]],
  ['a Service without an address', service, withoutAddress, (index) => [slice(index)]],
  ['a Service of another name', service, withName, () => []],
  ['an EndpointSlice', endpointSlice, base.endpointSliceOf, (index) => [headless(index)]],
  ['a Namespace', namespace, base.namespaceOf, () => []],
]
for (const [what, kind, baseObject, companions] of kinds)
  test(`hostile texts in ${what} are labels of DNS messages, or not in them`, async () => {
    const found: string[] = []
    for (const variants of variantsOf(kind, baseObject)) {
      const objects = variants.map(({ object }) => ({ kind, object }))
      const numbers = variants.map(({ index }) => index)
      const effects = await effectsOf([...objects, ...numbers.flatMap(companions)], numbers)
      found.push(...reportOf(violationsIn(effects), variants))
      match(effects.responses[0]?.bytes.toHex() ?? '', /0a600001/, 'the address of another Service is resolved')
    }
    deepEqual(found, [])
  })

test('a response that is cut off, or has a label that is too long, is not well-formed', () => {
  const whole = Uint8Array.from([...new Uint8Array(12), 1, 97, 0, 0, 1, 0, 1]).with(5, 1)
  deepEqual(dnsMessageFault(whole), undefined)
  for (const bytes of [whole.subarray(0, 15), whole.with(12, 64), whole.with(5, 2)])
    match(dnsMessageFault(bytes) ?? '', /another length/)
})
