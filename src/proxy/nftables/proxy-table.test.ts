import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import type { EndpointSlice } from '../../api/discovery/v1/endpoint-slice.ts'
import type { ObjectKey } from '../../api/meta/object.ts'
import { endpointAt, serviceWith, sliceWith } from '../routing/routing.harness.ts'
import { notRouted, routedService } from '../routing/service-route.ts'
import { parseCidrs } from '../../base/net/cidr.ts'
import { parseIps } from '../../base/net/ip-address.ts'
import { runToEnd, type Slice, type Sliced } from '../../base/work/work-slice.ts'
import { ProxyTable } from './proxy-table.ts'
import { staleFlows } from './stale-flows.ts'
import { contentSizeMax, endpointsPerTargetMax } from './service-content.ts'

const here = { name: 'node-a' }
const options = {
  podCidrs: parseCidrs(['10.244.0.0/16']),
  serviceCidrs: parseCidrs(['10.96.0.0/12']),
  masqueradesAll: false,
}
/** A table whose methods are not interrupted. */
function newTable() {
  const table = new ProxyTable({ ...options, nodeAddresses: parseIps(['192.168.0.1', 'fd00::1']) })
  return {
    change: (changes: Parameters<ProxyTable['change']>[0]) => runToEnd((slice) => table.change(changes, slice)),
    all: () => runToEnd((slice) => table.all(table.services.keys(), slice)),
    problemOf: (service: ObjectKey) => runToEnd((slice) => table.problemOf(service, slice)),
    inSlices: table,
  }
}

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
      'add element accepted4 { 192.0.2.8 . tcp . 80 . 192.0.2.8/32, 192.0.2.8 . tcp . 80 . 192.168.0.0/16 }',
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

const created = (year: number) => `${year}-01-01T00:00:00Z`
/** A Service with one endpoint, `10.244.1.<last>`, and the cluster IP `10.96.0.<last>`. */
const ofYear = (year: number, name: string, last: number, spec: object = {}, status: object = {}) => ({
  service: `default/${name}`,
  now: routedService(
    serviceWith(
      { clusterIP: `10.96.0.${last}`, clusterIPs: [`10.96.0.${last}`], ...spec },
      { name, uid: name, creationTimestamp: created(year) },
      status,
    ),
    elsewhere(`10.244.1.${last}`),
    here,
  ),
})
const external = (...externalIPs: string[]) => ({ externalIPs })
const at30080 = { ports: [{ name: 'http', protocol: 'TCP', port: 30080 }] }

/** Who is at an address that two Services name, whichever is known first. */
const owners: readonly (readonly [string, address: string, ReturnType<typeof ofYear>, ReturnType<typeof ofYear>])[] = [
  [
    'the older one',
    '192.0.2.9',
    ofYear(2020, 'b', 2, external('192.0.2.9')),
    ofYear(2021, 'a', 3, external('192.0.2.9')),
  ],
  [
    'the one with the lower uid',
    '192.0.2.9',
    ofYear(2020, 'a', 2, external('192.0.2.9')),
    ofYear(2020, 'b', 3, external('192.0.2.9')),
  ],
  ['the one whose cluster IP it is', '10.96.0.2', ofYear(2021, 'b', 2), ofYear(2020, 'a', 3, external('10.96.0.2'))],
  [
    'the one whose node port it is',
    '192.168.0.1 . tcp . 30080',
    ofYear(2021, 'b', 2, nodePort),
    ofYear(2020, 'a', 3, { ...at30080, ...external('192.168.0.1') }),
  ],
  [
    'the one whose load balancer has it',
    '192.0.2.8',
    ofYear(2021, 'b', 2, { type: 'LoadBalancer' }, balanced),
    ofYear(2020, 'a', 3, external('192.0.2.8')),
  ],
  [
    'the older one of two with the same cluster IP',
    '10.96.0.2',
    ofYear(2020, 'b', 2),
    { ...ofYear(2021, 'a', 3, { clusterIP: '10.96.0.2', clusterIPs: ['10.96.0.2'] }) },
  ],
]
for (const [name, address, owner, other] of owners) {
  const endpointAtAddress = (table: ReturnType<typeof newTable>) =>
    /[^{,]*: 10\.244\.1\.\d/.exec(
      brief(table.all())
        .filter((text) => text.includes('element endpoints4'))
        .flatMap((text) => text.split(/[{,]/))
        .filter((text) => text.includes(` ${address} `))
        .join(),
    )?.[0]
  for (const order of [
    [owner, other],
    [other, owner],
  ])
    test(`an address of two Services: ${name}, ${order[0] === owner ? 'known first' : 'known later'}`, () => {
      const table = newTable()
      const kernel = new SimulatedTable()
      for (const change of order) kernel.apply(table.change([change]))
      ok(endpointAtAddress(table)?.endsWith('10.244.1.2'), table.all().join('\n'))
      deepEqual(kernel.elements, new SimulatedTable(table.all()).elements)
      match(table.problemOf(other.service) ?? '', /is used by the Service default\/b|is used by the Service default\/a/)
      equal(table.problemOf(owner.service), undefined)
      kernel.apply(table.change([{ service: owner.service, now: notRouted }]))
      ok(endpointAtAddress(table)?.endsWith('10.244.1.3'), table.all().join('\n'))
      deepEqual(kernel.elements, new SimulatedTable(table.all()).elements)
      equal(table.problemOf(other.service), undefined)
    })
}

/** The elements that the kernel would have; it rejects an element that exists, or is deleted and does not. */
class SimulatedTable {
  readonly elements = new Set<string>()

  constructor(commands: readonly string[] = []) {
    this.apply(commands)
  }

  apply(commands: readonly string[] | undefined): void {
    for (const command of commands ?? []) {
      const [, verb, set, list] = /^(add|delete) element inet coxswain-proxy (\S+) \{ (.*) \}$/.exec(command) ?? []
      for (const element of list?.split(', ') ?? []) {
        const key = `${set} ${element.split(' : ')[0]}`
        if (element.startsWith('0.0.0.0') || element.startsWith('::')) continue
        equal(this.elements.has(key), verb === 'delete', `${verb} ${key}`)
        if (verb === 'delete') this.elements.delete(key)
        else this.elements.add(key)
      }
    }
  }
}

test('an address that one Service names twice is one element', () => {
  const table = newTable()
  const twice = {
    type: 'LoadBalancer',
    loadBalancerSourceRanges: ['10.0.0.0/8'],
    ...external('192.0.2.8', '10.96.0.2'),
  }
  const kernel = new SimulatedTable(table.change([ofYear(2020, 'a', 2, twice, balanced)]))
  ok(kernel.elements.has('firewalled4 192.0.2.8 . tcp . 80'))
  equal(kernel.elements.has('masqueraded4 10.96.0.2 . tcp . 80'), false)
})

test('a Service with very many ports and addresses has a bounded part of the table', () => {
  const ports = Array.from({ length: 15_000 }, (_, index) => ({ name: `p${index}`, protocol: 'TCP', port: index + 1 }))
  const addresses = Array.from({ length: 100 }, (_, index) => `10.244.1.${index}`)
  const slices = elsewhere(...addresses).map((slice) => ({ ...slice, ports }))
  const externalIPs = Array.from({ length: 2_000 }, (_, index) => `198.51.${index >> 8}.${index & 255}`)
  const table = newTable()
  const now = routedService(serviceWith({ ports, externalIPs }), slices as EndpointSlice[], here)
  const commands = table.change([{ service: 'default/web', now }])
  const elements = commands?.join('\n').split(', ').length ?? 0
  ok(elements > 15_000 && elements <= contentSizeMax * 1.1, `${elements} elements`)
  match(table.problemOf('default/web') ?? '', /too many ports and addresses/)
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

test('a change of a Service with many ports and endpoints can be interrupted at each of them', () => {
  const slice: Slice = { isUsedUp: () => true }
  const ports = 400
  const endpoints = 3
  const change = (count: number) => {
    const each = Array.from({ length: ports }, (_, index) => ({ name: `p${index}`, port: 1 + index, protocol: 'UDP' }))
    const addresses = Array.from({ length: count }, (_, index) => endpointAt(`10.244.0.${1 + index}`))
    return {
      service: 'default/web' as const,
      now: routedService(serviceWith({ ports: each }), [sliceWith(addresses, { ports: each })], here),
    }
  }
  const { inSlices: table, ...whole } = newTable()
  const stepsOf = <T>(work: Sliced<T>) => Array.from({ [Symbol.iterator]: () => work }).length
  ok(stepsOf(table.change([change(endpoints)], slice)) >= ports * 4)
  const uninterrupted = newTable()
  uninterrupted.change([change(endpoints)])
  deepEqual(whole.all(), uninterrupted.all())
  ok(stepsOf(table.change([change(endpoints + 1)], slice)) >= ports * endpoints * 4)
  uninterrupted.change([change(endpoints + 1)])
  deepEqual(whole.all(), uninterrupted.all())
  ok(stepsOf(table.all(table.services.keys(), slice)) >= ports)
  ok(stepsOf(table.problemOf('default/web', slice)) >= ports)
  ok(stepsOf(staleFlows(change(endpoints).now, change(endpoints + 1).now, [], slice)) >= ports * 2)
})
