import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import type { EndpointSlice } from '../../api/discovery/v1/endpoint-slice.ts'
import { endpointAt, serviceWith, sliceWith } from '../routing/routing.harness.ts'
import { notRouted, routedService } from '../routing/service-route.ts'
import { ProxyTable } from './proxy-table.ts'
import { endpointsPerTargetMax } from './service-content.ts'

const here = { name: 'node-a' }
const options = { podCidrs: ['10.244.0.0/16'], serviceCidrs: ['10.96.0.0/12'], masqueradesAll: false }
const newTable = () => new ProxyTable({ ...options, nodeAddresses: ['192.168.0.1', 'fd00::1'] })

const pods = (...addresses: string[]) => [sliceWith(addresses.map((address) => endpointAt(address)))]
const elsewhere = (...addresses: string[]) => [
  sliceWith(addresses.map((address) => endpointAt(address, {}, { nodeName: 'node-b' }))),
]

const changeOf = (spec: object, slices: readonly EndpointSlice[], name = 'web', status: object = {}) => ({
  service: `default/${name}`,
  now: routedService(serviceWith(spec, { name }, status), slices, here),
})

/** Commands without the name of the table. */
const brief = (commands: readonly string[] | undefined): readonly string[] =>
  (commands ?? ['replace']).map((command) => command.replace('inet coxswain-proxy ', ''))

const nodePort = { type: 'NodePort', ports: [{ name: 'http', protocol: 'TCP', port: 80, nodePort: 30080 }] }
const balanced = { loadBalancer: { ingress: [{ ip: '192.0.2.8', ipMode: 'VIP' }] } }

/** Two states of one Service, and the commands between them. */
const rows: readonly (readonly [
  string,
  before: readonly [object, readonly EndpointSlice[], object?],
  now: readonly [object, readonly EndpointSlice[], object?],
  expected: readonly string[],
])[] = [
  ['nothing changed', [{}, pods('10.244.0.2')], [{}, pods('10.244.0.2')], []],
  [
    'an endpoint is replaced: one element of a map',
    [{}, elsewhere('10.244.1.2', '10.244.1.3')],
    [{}, elsewhere('10.244.1.2', '10.244.1.4')],
    [
      'delete element endpoints4 { 10.96.0.20 . tcp . 80 . 1 }',
      'add element endpoints4 { 10.96.0.20 . tcp . 80 . 1 : 10.244.1.4 . 8080 }',
    ],
  ],
  [
    'an endpoint of this node is added',
    [{}, pods('10.244.0.2')],
    [{}, pods('10.244.0.2', '10.244.0.3')],
    [
      'delete element services4 { 10.96.0.20 . tcp . 80 }',
      'add element hairpin4 { 10.244.0.3 . 10.244.0.3 }',
      'add element services4 { 10.96.0.20 . tcp . 80 : goto pick-2-of4 }',
      'add element endpoints4 { 10.96.0.20 . tcp . 80 . 1 : 10.244.0.3 . 8080 }',
    ],
  ],
  [
    'the last endpoint is gone: refused',
    [{}, elsewhere('10.244.1.2')],
    [{}, []],
    [
      'delete element services4 { 10.96.0.20 . tcp . 80 }',
      'delete element endpoints4 { 10.96.0.20 . tcp . 80 . 0 }',
      'add element refused4 { 10.96.0.20 . tcp . 80 }',
    ],
  ],
  [
    'the internal policy Local without endpoints here: dropped',
    [{}, elsewhere('10.244.1.2')],
    [{ internalTrafficPolicy: 'Local' }, elsewhere('10.244.1.2')],
    [
      'delete element services4 { 10.96.0.20 . tcp . 80 }',
      'delete element endpoints4 { 10.96.0.20 . tcp . 80 . 0 }',
      'add element services4 { 10.96.0.20 . tcp . 80 : drop }',
    ],
  ],
  [
    'a node port is masqueraded',
    [{}, elsewhere('10.244.1.2')],
    [nodePort, elsewhere('10.244.1.2')],
    [
      'add element services4 { 192.168.0.1 . tcp . 30080 : goto pick-1-of4 }',
      'add element endpoints4 { 192.168.0.1 . tcp . 30080 . 0 : 10.244.1.2 . 8080 }',
      'add element masqueraded4 { 192.168.0.1 . tcp . 30080 }',
    ],
  ],
  [
    'the external policy Local: clients keep their address, and traffic of the cluster is routed to all nodes',
    [nodePort, elsewhere('10.244.1.2')],
    [{ ...nodePort, externalTrafficPolicy: 'Local' }, elsewhere('10.244.1.2')],
    [
      'delete element services4 { 192.168.0.1 . tcp . 30080 }',
      'delete element endpoints4 { 192.168.0.1 . tcp . 30080 . 0 }',
      'delete element masqueraded4 { 192.168.0.1 . tcp . 30080 }',
      'add element services4 { 192.168.0.1 . tcp . 30080 : drop }',
      'add element local-policy4 { 192.168.0.1 . tcp . 30080 }',
      'add element own-services4 { 192.168.0.1 . tcp . 30080 : goto own-pick-1-of4 }',
      'add element own-endpoints4 { 192.168.0.1 . tcp . 30080 . 0 : 10.244.1.2 . 8080 }',
    ],
  ],
  [
    'source ranges without overlaps; the address itself is accepted if the node is',
    [{ type: 'LoadBalancer' }, [], balanced],
    [{ type: 'LoadBalancer', loadBalancerSourceRanges: ['192.168.0.0/16', '192.168.1.0/24'] }, [], balanced],
    [
      'add element firewalled4 { 192.0.2.8 . tcp . 80 }',
      'add element accepted4 { 192.0.2.8 . tcp . 80 . 192.168.0.0/16, 192.0.2.8 . tcp . 80 . 192.0.2.8/32 }',
    ],
  ],
  [
    'all sources',
    [{ type: 'LoadBalancer' }, [], balanced],
    [{ type: 'LoadBalancer', loadBalancerSourceRanges: ['0.0.0.0/0'] }, [], balanced],
    [],
  ],
]

for (const [name, before, now, expected] of rows)
  test(`the commands of a change: ${name}`, () => {
    const table = newTable()
    table.change([changeOf(before[0], before[1], 'web', before[2])])
    deepEqual(brief(table.change([changeOf(now[0], now[1], 'web', now[2])])), expected)
  })

test('a Service with affinity has a set of clients for each endpoint, which the others keep', () => {
  const table = newTable()
  const sticky = {
    sessionAffinity: 'ClientIP',
    sessionAffinityConfig: { clientIP: { timeoutSeconds: 60 } },
  }
  table.change([changeOf(sticky, elsewhere('10.244.1.2', '10.244.1.3'))])
  const name = 'default/web/http/tcp/IPv4/60s'
  deepEqual(brief(table.change([changeOf(sticky, elsewhere('10.244.1.2'))])), [
    `flush chain to-${name}/10.244.1.3-8080`,
    `flush chain sticky-internal-${name}`,
    `delete chain to-${name}/10.244.1.3-8080`,
    `delete set clients-${name}/10.244.1.3-8080`,
    `add rule sticky-internal-${name} ip saddr @clients-${name}/10.244.1.2-8080 goto to-${name}/10.244.1.2-8080`,
    `add rule sticky-internal-${name} numgen random mod 1 vmap { 0 : goto to-${name}/10.244.1.2-8080 }`,
  ])
})

test('an address of several endpoints of this node is a hairpin until the last of them is gone', () => {
  const table = newTable()
  const other = { clusterIP: '10.96.0.21', clusterIPs: ['10.96.0.21'] }
  table.change([changeOf({}, pods('10.244.0.2')), changeOf(other, pods('10.244.0.2'), 'other')])
  const hairpins = (commands: readonly string[] | undefined) =>
    brief(commands).filter((text) => text.includes('hairpin'))
  deepEqual(hairpins(table.change([changeOf({}, [])])), [])
  deepEqual(hairpins(table.change([changeOf(other, [], 'other')])), [
    'delete element hairpin4 { 10.244.0.2 . 10.244.0.2 }',
  ])
})

test('the first Service that names an external address uses it; the next one succeeds it', () => {
  const table = newTable()
  const withExternal = (clusterIp: string) => ({
    clusterIP: clusterIp,
    clusterIPs: [clusterIp],
    externalIPs: ['192.0.2.9'],
  })
  const external = (commands: readonly string[] | undefined) =>
    brief(commands).filter((text) => text.includes('192.0.2.9'))
  const first = changeOf(withExternal('10.96.0.20'), elsewhere('10.244.1.2'))
  equal(external(table.change([first])).length, 3)
  deepEqual(external(table.change([changeOf(withExternal('10.96.0.21'), elsewhere('10.244.1.3'), 'other')])), [])
  const commands = external(table.change([{ service: first.service, now: notRouted }]))
  ok(
    commands.some((text) => text.startsWith('add element endpoints4') && text.includes('10.244.1.3')),
    commands.join('\n'),
  )
})

test('a Service with more endpoints than there are chains for replaces the table', () => {
  const table = newTable()
  const many = Array.from({ length: 17 }, (_, index) => `10.244.1.${index}`)
  deepEqual(brief(table.change([changeOf({}, elsewhere(...many))])), ['replace'])
  ok(table.all().some((command) => command.includes('add chain inet coxswain-proxy pick-32-of4')))
  ok(table.change([changeOf({}, elsewhere(...many.slice(1)))]) !== undefined)
})

test('all commands replace the table by one with the content of all Services', () => {
  const table = newTable()
  table.change([
    changeOf({}, pods('10.244.0.2')),
    changeOf({ clusterIP: '10.96.0.21', clusterIPs: ['10.96.0.21'] }, [], 'b'),
  ])
  table.change([{ service: 'default/b', now: notRouted }])
  const commands = brief(table.all())
  deepEqual(commands.slice(0, 3), [
    'add table inet coxswain-proxy',
    'delete table inet coxswain-proxy',
    'add table inet coxswain-proxy',
  ])
  const content = commands.filter((text) => text.includes('10.96.0.2') && text.startsWith('add element'))
  deepEqual(content, [
    'add element cluster-ips4 { 10.96.0.20 }',
    'add element services4 { 10.96.0.20 . tcp . 80 : goto pick-1-of4 }',
    'add element endpoints4 { 10.96.0.20 . tcp . 80 . 0 : 10.244.0.2 . 8080 }',
  ])
  ok(commands.includes('add element hairpin4 { 10.244.0.2 . 10.244.0.2 }'))
})

test('a Service with very many endpoints uses a bounded number of them', () => {
  const table = newTable()
  const addresses = Array.from({ length: 2_000 }, (_, index) => `10.244.${index >> 8}.${index & 255}`)
  table.change([changeOf({}, elsewhere(...addresses))])
  const commands = table.all().join('\n')
  ok(commands.includes(`10.96.0.20 . tcp . 80 . ${endpointsPerTargetMax - 1} : `))
  equal(commands.includes(`10.96.0.20 . tcp . 80 . ${endpointsPerTargetMax} : `), false)
  equal(commands.includes(`pick-${endpointsPerTargetMax + 1}-`), false)
})
