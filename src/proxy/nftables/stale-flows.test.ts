import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { endpointAt, serviceWith, sliceWith } from '../routing/routing.harness.ts'
import { notRouted, routedService, type RoutedService } from '../routing/service-route.ts'
import { staleAmong, staleFlows } from './stale-flows.ts'

const udp = (...addresses: string[]): RoutedService => udpAt(5353, ...addresses)

function udpAt(targetPort: number, ...addresses: string[]): RoutedService {
  const ports = [{ name: 'dns', protocol: 'UDP', port: 53, nodePort: 30053 }]
  const slice = sliceWith(
    addresses.map((address) => endpointAt(address)),
    { ports: [{ name: 'dns', protocol: 'UDP', port: targetPort }] },
  )
  return routedService(serviceWith({ type: 'NodePort', ports }), [slice], { name: 'node-a' })
}

const rows: readonly (readonly [string, before: RoutedService, now: RoutedService, expected: readonly string[]])[] = [
  ['nothing changed', udp('a'), udp('a'), []],
  ['an endpoint is added', udp('a'), udp('a', 'b'), []],
  ['an endpoint is gone', udp('a', 'b'), udp('b'), ['10.96.0.20:53 a:5353', '192.168.0.1:30053 a:5353']],
  ['the Service is gone', udp('a'), notRouted, ['10.96.0.20:53 a:5353', '192.168.0.1:30053 a:5353']],
  [
    'the first endpoint: flows that were not translated',
    udp(),
    udp('a'),
    ['10.96.0.20:53 10.96.0.20:53', '192.168.0.1:30053 192.168.0.1:30053'],
  ],
  [
    'the target port changes, so that the endpoint has another port',
    udp('a'),
    udpAt(5354, 'a'),
    ['10.96.0.20:53 a:5353', '192.168.0.1:30053 a:5353'],
  ],
  ['TCP', routedService(serviceWith(), [sliceWith([endpointAt('a')])], { name: 'node-a' }), notRouted, []],
]

for (const [name, before, now, expected] of rows)
  test(`stale UDP flows: ${name}`, () =>
    deepEqual(
      staleFlows(before, now, ['192.168.0.1']).map(
        ({ address, port, endpoint }) => `${address}:${port} ${endpoint.address}:${endpoint.port}`,
      ),
      expected,
    ))

const tracked = (address: string, port: number, endpoint: string, endpointPort: number) =>
  ({ family: 'IPv4', address, port, endpoint: { address: endpoint, port: endpointPort } }) as const

const trackedRows: readonly (readonly [string, RoutedService, flows: ReturnType<typeof tracked>, isStale: boolean])[] =
  [
    ['to an endpoint', udp('a', 'b'), tracked('10.96.0.20', 53, 'b', 5353), false],
    ['to another port of an endpoint', udp('a'), tracked('10.96.0.20', 53, 'a', 5354), true],
    ['to an endpoint that is gone', udp('a'), tracked('192.168.0.1', 30053, 'b', 5353), true],
    ['to an endpoint of a Service that has none now', udp(), tracked('10.96.0.20', 53, 'a', 5353), true],
    ['not translated, with endpoints', udp('a'), tracked('10.96.0.20', 53, '10.96.0.20', 53), true],
    ['not translated, without endpoints', udp(), tracked('10.96.0.20', 53, '10.96.0.20', 53), false],
    ['to something else', udp('a'), tracked('10.96.0.99', 53, 'x', 53), false],
  ]

for (const [name, service, flows, isStale] of trackedRows)
  test(`tracked UDP flows ${name} are ${isStale ? 'stale' : 'kept'}`, () =>
    deepEqual(staleAmong([flows], [service], ['192.168.0.1']), isStale ? [flows] : []))

test('two Services with one external address: flows to the endpoints of either are kept', () => {
  const both = [udp('a'), udp('b')]
  deepEqual(
    staleAmong(
      ['a', 'b', 'c'].map((endpoint) => tracked('10.96.0.20', 53, endpoint, 5353)),
      both,
      [],
    ).map(({ endpoint }) => endpoint.address),
    ['c'],
  )
})
