import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import type { EndpointSlice } from '../../api/discovery/v1/endpoint-slice.ts'
import { runToEnd } from '../../base/work/work-slice.ts'
import { endpointAt, serviceWith, sliceWith } from './routing.harness.ts'
import { portEndpointsMax, ServiceEndpoints } from './service-endpoints.ts'
import { portAddressesMax, routedService, sourceRangesMax } from './service-route.ts'

const here = { name: 'node-a' }
const endpointsOf = (slices: readonly EndpointSlice[], ports: number) =>
  runToEnd((time) => ServiceEndpoints.read(slices, here, ports, time))
const http = { name: 'http', protocol: 'TCP' }
const addressesOf = (endpoints: ServiceEndpoints) => endpoints.of(http).map(({ address, port }) => `${address}:${port}`)

const rows: readonly (readonly [string, Parameters<typeof sliceWith>[], readonly string[]])[] = [
  ['no slices', [], []],
  ['two slices', [[[endpointAt('10.0.0.1')]], [[endpointAt('10.0.0.2')]]], ['10.0.0.1:8080', '10.0.0.2:8080']],
  ['another name', [[[endpointAt('10.0.0.1')], { ports: [{ name: 'x', protocol: 'TCP', port: 1 }] }]], []],
  ['another protocol', [[[endpointAt('10.0.0.1')], { ports: [{ name: 'http', protocol: 'UDP', port: 1 }] }]], []],
  ['no protocol is TCP', [[[endpointAt('10.0.0.1')], { ports: [{ name: 'http', port: 1 }] }]], ['10.0.0.1:1']],
  ['all ports', [[[endpointAt('10.0.0.1')], { ports: [{ name: 'http', protocol: 'TCP' }] }]], []],
  ['a port that does not exist', [[[endpointAt('10.0.0.1')], { ports: [{ name: 'http', port: 65_536 }] }]], []],
  ['the same endpoint twice', [[[endpointAt('10.0.0.1')]], [[endpointAt('10.0.0.1')]]], ['10.0.0.1:8080']],
  ['an address of another family', [[[endpointAt('fd00::1'), endpointAt('10.0.0.1')]]], ['10.0.0.1:8080']],
  ['a text that is no address', [[[endpointAt('x\n'), endpointAt('10.0.0.1')]]], ['10.0.0.1:8080']],
]
for (const [name, slices, expected] of rows)
  test(`the endpoints of a port: ${name}`, () =>
    deepEqual(
      addressesOf(
        endpointsOf(
          slices.map((each) => sliceWith(...each)),
          1,
        ),
      ),
      expected,
    ))

test('an endpoint that moves between slices is used in its better state', () => {
  const slices = [sliceWith([endpointAt('10.0.0.1', { ready: false })]), sliceWith([endpointAt('10.0.0.1')])]
  deepEqual(
    endpointsOf(slices, 1)
      .of(http)
      .map(({ isReady }) => isReady),
    [true],
  )
})

test('of too many endpoints, ready ones of this node are used first', () => {
  const slices = [
    sliceWith([endpointAt('10.0.0.1', { ready: false }), endpointAt('10.0.0.2', {}, { nodeName: 'node-b' })]),
    sliceWith([endpointAt('10.0.0.3', {}, { nodeName: 'node-b' }), endpointAt('10.0.0.4')]),
  ]
  const endpoints = endpointsOf(slices, portEndpointsMax / 2)
  equal(endpoints.isCut, true)
  deepEqual(addressesOf(endpoints), ['10.0.0.4:8080', '10.0.0.3:8080'])
})

test('the slices are read once, whatever the number of ports', () => {
  const ports = Array.from({ length: 2_000 }, (_, index) => ({ name: `p${index}`, protocol: 'TCP', port: index + 1 }))
  let reads = 0
  const counted = new Proxy(ports, {
    get: (target, key, receiver) => {
      reads++
      return Reflect.get(target, key, receiver) as unknown
    },
  })
  const { routes } = routedService(
    serviceWith({ ports }),
    [sliceWith([endpointAt('10.0.0.1')], { ports: counted })],
    here,
  )
  equal(routes.length, 2_000)
  ok(reads < ports.length * 4, `${reads} reads`)
})

const many = (count: number, prefix: string) =>
  Array.from({ length: count }, (_, index) => `${prefix}.${index >> 8}.${index & 255}`)

test('what a Service has too much of is not routed, and is named', () => {
  const spec = {
    type: 'LoadBalancer',
    externalIPs: many(portAddressesMax + 1, '198.51'),
    loadBalancerSourceRanges: many(sourceRangesMax + 1, '10.1').map((address) => `${address}/32`),
  }
  const { routes, cut } = routedService(serviceWith(spec), [], here)
  equal(routes[0]?.externalIps.length, portAddressesMax)
  equal(routes[0].sourceRanges?.length, sourceRangesMax)
  match(cut ?? '', /^only 16384 external addresses and 1024 source ranges are used$/)
})

test('a source range that is none accepts no client', () => {
  const ranges = (...loadBalancerSourceRanges: string[]) =>
    routedService(serviceWith({ type: 'LoadBalancer', loadBalancerSourceRanges }), [], here).routes[0]?.sourceRanges
  deepEqual(ranges(), undefined)
  deepEqual(ranges('fd00::/8'), undefined)
  deepEqual(ranges('x'), [])
  deepEqual(ranges(' 10.0.0.0/008 ', '10.1.0.0/16'), ['10.0.0.0/8'])
})
