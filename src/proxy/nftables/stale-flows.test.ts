import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { runToEnd } from '../../base/work/work-slice.ts'
import { endpointAt, serviceWith, sliceWith } from '../routing/routing.harness.ts'
import { notRouted, routedService, type RoutedService } from '../routing/service-route.ts'
import { mustParseIp, parseIps } from '../../base/net/ip-address.ts'
import type { UdpFlows } from '../../machine/conntrack/conntrack.ts'
import { staleAmong, staleFlows, staleFlowsMax } from './stale-flows.ts'

const nodeAddresses = parseIps(['192.168.0.1'])

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
  ['nothing changed', udp('10.0.0.1'), udp('10.0.0.1'), []],
  ['an endpoint is added', udp('10.0.0.1'), udp('10.0.0.1', '10.0.0.2'), []],
  [
    'an endpoint is gone',
    udp('10.0.0.1', '10.0.0.2'),
    udp('10.0.0.2'),
    ['10.96.0.20:53 10.0.0.1:5353', '192.168.0.1:30053 10.0.0.1:5353'],
  ],
  [
    'the Service is gone',
    udp('10.0.0.1'),
    notRouted,
    ['10.96.0.20:53 10.0.0.1:5353', '192.168.0.1:30053 10.0.0.1:5353'],
  ],
  [
    'the first endpoint: flows that were not translated',
    udp(),
    udp('10.0.0.1'),
    ['10.96.0.20:53 10.96.0.20:53', '192.168.0.1:30053 192.168.0.1:30053'],
  ],
  [
    'the target port changes, so that the endpoint has another port',
    udp('10.0.0.1'),
    udpAt(5354, '10.0.0.1'),
    ['10.96.0.20:53 10.0.0.1:5353', '192.168.0.1:30053 10.0.0.1:5353'],
  ],
  ['TCP', routedService(serviceWith(), [sliceWith([endpointAt('10.0.0.1')])], { name: 'node-a' }), notRouted, []],
]

for (const [name, before, now, expected] of rows)
  test(`stale UDP flows: ${name}`, () =>
    deepEqual(
      runToEnd((slice) => staleFlows(before, now, nodeAddresses, slice))?.map(
        ({ address, port, endpoint }) => `${address}:${port} ${endpoint.address}:${endpoint.port}`,
      ),
      expected,
    ))

const tracked = (address: string, port: number, endpoint: string, endpointPort: number): UdpFlows => ({
  family: 'IPv4',
  address: mustParseIp(address),
  port,
  endpoint: { address: mustParseIp(endpoint), port: endpointPort },
})

const trackedRows: readonly (readonly [string, RoutedService, flows: ReturnType<typeof tracked>, isStale: boolean])[] =
  [
    ['to an endpoint', udp('10.0.0.1', '10.0.0.2'), tracked('10.96.0.20', 53, '10.0.0.2', 5353), false],
    ['to another port of an endpoint', udp('10.0.0.1'), tracked('10.96.0.20', 53, '10.0.0.1', 5354), true],
    ['to an endpoint that is gone', udp('10.0.0.1'), tracked('192.168.0.1', 30053, '10.0.0.2', 5353), true],
    ['to an endpoint of a Service that has none now', udp(), tracked('10.96.0.20', 53, '10.0.0.1', 5353), true],
    ['not translated, with endpoints', udp('10.0.0.1'), tracked('10.96.0.20', 53, '10.96.0.20', 53), true],
    ['not translated, without endpoints', udp(), tracked('10.96.0.20', 53, '10.96.0.20', 53), false],
    ['to something else', udp('10.0.0.1'), tracked('10.96.0.99', 53, '10.0.0.9', 53), false],
  ]

for (const [name, service, flows, isStale] of trackedRows)
  test(`tracked UDP flows ${name} are ${isStale ? 'stale' : 'kept'}`, () =>
    deepEqual(
      runToEnd((slice) => staleAmong([flows], [service], nodeAddresses, slice)),
      isStale ? [flows] : [],
    ))

test('two Services with one external address: flows to the endpoints of either are kept', () => {
  const both = [udp('10.0.0.1'), udp('10.0.0.2')]
  deepEqual(
    runToEnd((slice) =>
      staleAmong(
        ['10.0.0.1', '10.0.0.2', '10.0.0.3'].map((endpoint) => tracked('10.96.0.20', 53, endpoint, 5353)),
        both,
        [],
        slice,
      ),
    ).map(({ endpoint }) => endpoint.address),
    ['10.0.0.3'],
  )
})

test('more stale flows than calls are worth are not listed one by one', () => {
  const many = udp(...Array.from({ length: staleFlowsMax / 2 + 1 }, (_, index) => `10.0.1.${index}`))
  equal(
    runToEnd((slice) => staleFlows(many, notRouted, nodeAddresses, slice)),
    undefined,
  )
})
