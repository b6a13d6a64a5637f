import { deepEqual, equal } from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Service } from '../../api/core/v1/service/service.ts'
import type { Gateway, GatewayAddress } from '../kinds/gateway-kinds.ts'
import { gatewayOf, listener, object } from '../simulated-objects.harness.ts'
import { balancedAddresses, balancerName, balancerService, balancerSlice } from './gateway-balancer.ts'

const owner = { apiVersion: 'gateway.networking.k8s.io/v1', kind: 'Gateway', name: 'web', uid: 'web', controller: true }
const gatewayWith = (addresses?: readonly GatewayAddress[]): Gateway =>
  gatewayOf(
    'web',
    [
      listener('b', { port: 443, protocol: 'HTTPS' }),
      listener('a'),
      listener('c', { hostname: 'c.com' }),
      listener('d', { port: 53, protocol: 'UDP' }),
    ],
    addresses === undefined ? {} : { addresses },
  )

test('the Service has the ports of the listeners that can be served', () => {
  const { metadata, spec } = balancerService(gatewayWith()) ?? {}
  deepEqual(metadata, {
    name: 'web-coxswain',
    namespace: 'default',
    labels: {
      'gateway.networking.k8s.io/gateway-name': 'web',
      'gateway.networking.k8s.io/gateway-class-name': 'coxswain',
    },
    ownerReferences: [owner],
  })
  deepEqual(spec, {
    type: 'LoadBalancer',
    externalTrafficPolicy: 'Local',
    allocateLoadBalancerNodePorts: false,
    ports: [
      { name: 'port-80', port: 80, protocol: 'TCP' },
      { name: 'port-443', port: 443, protocol: 'TCP' },
    ],
  })
  const infrastructure = {
    labels: { team: 'blue', 'gateway.networking.k8s.io/gateway-name': 'other' },
    annotations: { 'example.com/a': 'b' },
  }
  const own = balancerService(gatewayOf('web', [listener('a')], { infrastructure }))?.metadata
  deepEqual([own?.labels?.['team'], own?.labels?.['gateway.networking.k8s.io/gateway-name']], ['blue', 'web'])
  deepEqual(own?.annotations, infrastructure.annotations)
  equal(balancerService(gatewayWith([{ value: '192.0.2.9' }]))?.spec?.loadBalancerIP, '192.0.2.9')
  deepEqual(
    balancerService(gatewayOf('sets', [listener('a')]), [443, 80])?.spec?.ports?.map(({ port }) => port),
    [80, 443],
  )
  equal(balancerService(gatewayOf('udp', [listener('d', { protocol: 'UDP' })])), undefined)
})

test('the slice leads each port to that of the proxy', () => {
  const opened = new Map([[80, 40_001], [443, 40_002]]) // prettier-ignore
  const { metadata, addressType, endpoints, ports } = balancerSlice(gatewayWith(), { address: '10.0.0.1', nodeName: 'node' }, opened) // prettier-ignore
  deepEqual([metadata?.labels?.['kubernetes.io/service-name'], metadata?.ownerReferences], ['web-coxswain', [owner]])
  deepEqual([addressType, endpoints], ['IPv4', [{ addresses: ['10.0.0.1'], conditions: { ready: true }, nodeName: 'node' }]]) // prettier-ignore
  deepEqual(ports?.map(({ name, port }) => [name, port]), [['port-80', 40_001], ['port-443', 40_002]]) // prettier-ignore
})

suite('the name of the Service', () => {
  for (const [name, gatewayClassName, expected] of [
    ['web', 'coxswain', 'web-coxswain'],
    ['1web', 'coxswain', 'gateway-1web'],
    ['web.a', 'coxswain', 'gateway-web.a'],
    ['w'.repeat(54), 'coxswain', `${'w'.repeat(54)}-coxswain`],
    ['w'.repeat(55), 'coxswain', `gateway-${'w'.repeat(55)}`],
  ] as const)
    test(`of ${name.slice(0, 8)} with ${name.length} characters`, () =>
      equal(balancerName(gatewayOf(name, [], { gatewayClassName })), expected))
})

const serviceWith = (ips: readonly string[], uid = 'web') =>
  ({
    ...object('web-coxswain', 'default', { ownerReferences: [{ ...owner, uid }] }),
    status: { loadBalancer: { ingress: ips.map((ip) => ({ ip })) } },
  }) as unknown as Service

const cases: readonly (readonly [
  name: string,
  requested: readonly GatewayAddress[] | undefined,
  service: Service | undefined,
  expected: string,
])[] = [
  ['no Service', undefined, undefined, 'AddressNotAssigned'],
  ['a Service without an address', undefined, serviceWith([]), 'AddressNotAssigned'],
  ['a Service of another owner', undefined, serviceWith(['192.0.2.1'], 'other'), 'AddressNotAssigned'],
  ['an address', undefined, serviceWith(['192.0.2.1']), 'Programmed 192.0.2.1'],
  ['the requested address', [{ value: '192.0.2.1' }], serviceWith(['192.0.2.1']), 'Programmed 192.0.2.1'],
  ['another address than the requested', [{ value: '192.0.2.2' }], serviceWith(['192.0.2.1']), 'AddressNotUsable'],
  ['any address', [{}], serviceWith(['192.0.2.1', '2001:db8::1']), 'Programmed 192.0.2.1 2001:db8::1'],
]

suite('addresses with', () => {
  for (const [name, requested, found, expected] of cases)
    test(name, () => {
      const { outcome, addresses, places } = balancedAddresses(gatewayWith(requested), found)
      deepEqual([[outcome.reason, ...addresses].join(' '), places], [expected, ['default/web']])
    })
})
