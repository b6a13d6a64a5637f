import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import type { Service } from '../../api/core/v1/service/service.ts'
import type { EndpointSlice } from '../../api/discovery/v1/endpoint-slice.ts'
import { endpointAt, serviceWith, sliceWith } from './routing.harness.ts'
import { routedService, type RouteTarget, type ServiceRoute } from './service-route.ts'

const here = { name: 'node-a' }
const local = endpointAt('10.244.0.2')
const remote = endpointAt('10.244.1.2', {}, { nodeName: 'node-b' })

const targetText = (target: RouteTarget): string =>
  target.kind === 'endpoints'
    ? target.endpoints.map(({ address, port }) => `${address}:${port}`).join(' ')
    : `(${target.kind})`

const rows: readonly (readonly [string, Service, readonly EndpointSlice[], readonly string[]])[] = [
  [
    'a cluster IP',
    serviceWith(),
    [sliceWith([local, remote])],
    ['10.96.0.20 TCP 80 → 10.244.0.2:8080 10.244.1.2:8080'],
  ],
  ['no endpoints: refused', serviceWith(), [], ['10.96.0.20 TCP 80 → (reject)']],
  ['a headless Service', serviceWith({ clusterIP: 'None', clusterIPs: ['None'] }), [sliceWith([local])], []],
  ['an ExternalName', serviceWith({ type: 'ExternalName' }), [sliceWith([local])], []],
  [
    'a Service of another proxy',
    serviceWith({}, { labels: { 'service.kubernetes.io/service-proxy-name': 'x' } }),
    [sliceWith([local])],
    [],
  ],
  [
    'slices of headless Services are ignored',
    serviceWith(),
    [sliceWith([local], {}, { 'service.kubernetes.io/headless': '' })],
    ['10.96.0.20 TCP 80 → (reject)'],
  ],
  [
    'a port of another name is not used',
    serviceWith(),
    [sliceWith([local], { ports: [{ name: 'admin', protocol: 'TCP', port: 1 }] })],
    ['10.96.0.20 TCP 80 → (reject)'],
  ],
  [
    'the internal policy Local',
    serviceWith({ internalTrafficPolicy: 'Local' }),
    [sliceWith([local, remote])],
    ['10.96.0.20 TCP 80 → 10.244.0.2:8080'],
  ],
  [
    'the internal policy Local without local endpoints: dropped',
    serviceWith({ internalTrafficPolicy: 'Local' }),
    [sliceWith([remote])],
    ['10.96.0.20 TCP 80 → (drop)'],
  ],
  [
    'both families',
    serviceWith({ clusterIPs: ['10.96.0.20', 'fd00::20'] }),
    [sliceWith([local]), sliceWith([endpointAt('fd01::2')], { addressType: 'IPv6' })],
    ['10.96.0.20 TCP 80 → 10.244.0.2:8080', 'fd00::20 TCP 80 → fd01::2:8080'],
  ],
  [
    'slices with names as addresses are not used',
    serviceWith(),
    [sliceWith([endpointAt('example.com')], { addressType: 'FQDN' })],
    ['10.96.0.20 TCP 80 → (reject)'],
  ],
  [
    'an endpoint in two slices: the ready one is used',
    serviceWith(),
    [sliceWith([endpointAt('10.244.0.2', { ready: false })]), sliceWith([local])],
    ['10.96.0.20 TCP 80 → 10.244.0.2:8080'],
  ],
]

for (const [name, object, slices, expected] of rows)
  test(`the route to a cluster IP: ${name}`, () =>
    deepEqual(
      routedService(object, slices, here).routes.map(
        ({ clusterIp, protocol, port, internal }) => `${clusterIp} ${protocol} ${port} → ${targetText(internal)}`,
      ),
      expected,
    ))

const externalRows: readonly (readonly [string, object, readonly EndpointSlice[], Partial<Record<string, unknown>>])[] =
  [
    [
      'a node port',
      { type: 'NodePort', ports: [{ name: 'http', protocol: 'TCP', port: 80, nodePort: 30080 }] },
      [sliceWith([local, remote])],
      { nodePort: 30080, external: '10.244.0.2:8080 10.244.1.2:8080', preservesClientIp: false },
    ],
    [
      'the policy Local, with an endpoint here',
      { type: 'NodePort', externalTrafficPolicy: 'Local' },
      [sliceWith([local, remote])],
      {
        external: '10.244.0.2:8080',
        externalFromCluster: '10.244.0.2:8080 10.244.1.2:8080',
        preservesClientIp: true,
      },
    ],
    [
      'the policy Local, without an endpoint here',
      { type: 'NodePort', externalTrafficPolicy: 'Local' },
      [sliceWith([remote])],
      { external: '(drop)', externalFromCluster: '10.244.1.2:8080' },
    ],
    [
      'external IPs and source ranges of the family',
      {
        type: 'LoadBalancer',
        externalIPs: ['192.0.2.7', '2001:db8::7'],
        loadBalancerSourceRanges: [' 198.51.100.0/24', '2001:db8::/32'],
      },
      [],
      { externalIps: ['192.0.2.7'], sourceRanges: ['198.51.100.0/24'], external: '(reject)' },
    ],
    [
      'session affinity',
      { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 60 } } },
      [],
      { affinitySeconds: 60 },
    ],
  ]

const shown = ({ external, externalFromCluster, ...route }: ServiceRoute): Record<string, unknown> => ({
  ...route,
  external: targetText(external),
  externalFromCluster: targetText(externalFromCluster),
})

for (const [name, spec, slices, expected] of externalRows)
  test(`a route from outside: ${name}`, () => {
    const [route] = routedService(serviceWith(spec), slices, here).routes
    const all = route === undefined ? {} : shown(route)
    deepEqual(Object.fromEntries(Object.keys(expected).map((field) => [field, all[field]])), expected)
  })

test('addresses of a load balancer: those that nodes handle themselves', () => {
  const ingress = [
    { ip: '192.0.2.8', ipMode: 'VIP' },
    { ip: '192.0.2.9', ipMode: 'Proxy' },
    { ip: '2001:db8::8', ipMode: 'VIP' },
    { hostname: 'lb.example.com' },
  ]
  const of = (type: string) =>
    routedService(serviceWith({ type }, {}, { loadBalancer: { ingress } }), [], here).routes[0]?.loadBalancerIps
  deepEqual([of('LoadBalancer'), of('NodePort')], [['192.0.2.8'], []])
})

test('the health check counts the ready endpoints of the node once, whatever the number of ports', () => {
  const object = serviceWith({ type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: 31000 })
  const slices = [
    sliceWith([local, remote, endpointAt('10.244.0.3', { ready: false })]),
    sliceWith([local], { ports: [{ name: 'admin', port: 9, protocol: 'TCP' }] }),
  ]
  deepEqual(routedService(object, slices, here).healthCheck, { service: 'default/web', port: 31000, localEndpoints: 1 })
  equal(routedService(serviceWith(), slices, here).healthCheck, undefined)
})
