import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { endpointAt, serviceWith, sliceWith } from '../routing/routing.harness.ts'
import { notRouted, routedService, type RoutedService } from '../routing/service-route.ts'
import { staleFlows } from './stale-flows.ts'

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
