import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import type { Node } from '../../api/core/v1/node/node.ts'
import type { Service } from '../../api/core/v1/service/service.ts'
import type { EndpointSlice } from '../../api/discovery/v1/endpoint-slice.ts'
import { runToEnd } from '../../base/work/work-slice.ts'
import { RouteTable, type RouteChange } from './route-table.ts'
import { endpointAt, nodeWith, ScriptedSource, serviceWith, sliceWith } from './routing.harness.ts'

function newTable() {
  const services = new ScriptedSource<Service>()
  const slices = new ScriptedSource<EndpointSlice>()
  const nodes = new ScriptedSource<Node>()
  let notifications = 0
  const table = new RouteTable({ services, slices, nodes, nodeName: 'node-a' }, () => notifications++)
  return { services, slices, nodes, table, notifications: () => notifications }
}

const taken = (table: RouteTable): RouteChange[] => runToEnd((slice) => table.takeChanges(slice))

const addressesOf = ({ routes }: RouteChange['now']): string =>
  routes
    .map(({ internal }) =>
      internal.kind === 'endpoints' ? internal.endpoints.map(({ address }) => address).join(' ') : internal.kind,
    )
    .join(', ')

const changesText = (changes: readonly RouteChange[]): string[] =>
  changes.map(({ service, before, now }) => `${service}: ${addressesOf(before)} → ${addressesOf(now)}`)

test('changes are those since the last call, for the changed Services only', () => {
  const { services, slices, table } = newTable()
  services.put(serviceWith())
  services.put(serviceWith({ clusterIP: '10.96.0.21', clusterIPs: ['10.96.0.21'] }, { name: 'other' }))
  deepEqual(changesText(taken(table)), ['default/web:  → reject', 'default/other:  → reject'])
  slices.put(sliceWith([endpointAt('10.244.0.2')]))
  slices.put(sliceWith([endpointAt('10.244.0.2'), endpointAt('10.244.0.3')]))
  deepEqual(changesText(taken(table)), ['default/web: reject → 10.244.0.2 10.244.0.3'])
  deepEqual(taken(table), [])
  services.remove(serviceWith())
  deepEqual(changesText(taken(table)), ['default/web: 10.244.0.2 10.244.0.3 → '])
  deepEqual([...table.current.keys()], ['default/other'])
})

test('the routes of a Service with many ports can be interrupted at each port, and at each port of its slices', () => {
  const { services, slices, table } = newTable()
  const ports = Array.from({ length: 400 }, (_, index) => ({ name: `p${index}`, port: 1 + index, protocol: 'TCP' }))
  services.put(serviceWith({ ports }))
  slices.put(sliceWith([endpointAt('10.244.0.2')], { ports }))
  const work = table.takeChanges({ isUsedUp: () => true })
  let steps = 0
  let step = work.next()
  for (; step.done !== true; step = work.next()) {
    // A change in the middle is for the next call.
    if (steps++ === 500) slices.put(sliceWith([endpointAt('10.244.0.3')], { ports }))
  }
  ok(steps >= ports.length * 2, `${steps} steps`)
  const routesTo = (changes: readonly RouteChange[]) => changes.map(({ now }) => new Set(addressesOf(now).split(', ')))
  deepEqual(routesTo(step.value), [new Set(['10.244.0.2'])])
  deepEqual(routesTo(taken(table)), [new Set(['10.244.0.3'])])
})

test('a slice that moves to another Service changes both', () => {
  const { services, slices, table } = newTable()
  services.put(serviceWith())
  services.put(serviceWith({}, { name: 'other' }))
  slices.put(sliceWith([endpointAt('10.244.0.2')]))
  taken(table)
  slices.put(sliceWith([endpointAt('10.244.0.2')], {}, { 'kubernetes.io/service-name': 'other' }))
  deepEqual(changesText(taken(table)).toSorted(), [
    'default/other: reject → 10.244.0.2',
    'default/web: 10.244.0.2 → reject',
  ])
})

test('slices without a Service change nothing', () => {
  const { slices, table } = newTable()
  slices.put(sliceWith([endpointAt('10.244.0.2')]))
  deepEqual(taken(table), [])
})

test('the consumer is notified once until it takes the changes', () => {
  const { services, slices, table, notifications } = newTable()
  services.put(serviceWith())
  slices.put(sliceWith([]))
  equal(notifications(), 1)
  taken(table)
  slices.put(sliceWith([endpointAt('10.244.0.2')]))
  equal(notifications(), 2)
})

test('the zone of the node selects hinted endpoints; other changes of nodes have no effect', () => {
  const { services, slices, nodes, table } = newTable()
  const hinted = (address: string, zone: string) => endpointAt(address, {}, { hints: { forZones: [{ name: zone }] } })
  services.put(serviceWith())
  slices.put(sliceWith([hinted('10.244.0.2', 'one'), hinted('10.244.0.3', 'two')]))
  deepEqual(changesText(taken(table)), ['default/web:  → 10.244.0.2 10.244.0.3'])
  const zone = 'topology.kubernetes.io/zone'
  nodes.put(nodeWith('node-b', { [zone]: 'one' }))
  deepEqual(taken(table), [])
  nodes.put(nodeWith('node-a', { [zone]: 'two' }))
  deepEqual(changesText(taken(table)), ['default/web: 10.244.0.2 10.244.0.3 → 10.244.0.3'])
  nodes.put(nodeWith('node-a', { [zone]: 'two', other: 'label' }))
  deepEqual(taken(table), [])
})

test('what changes while the changes are taken is part of the next ones', () => {
  const { services, slices, table, notifications } = newTable()
  services.put(serviceWith())
  slices.put(sliceWith([endpointAt('10.244.0.2')]))
  const before = notifications()
  const taking = table.takeChanges({ isUsedUp: () => true })
  let step = taking.next()
  equal(step.done, false)
  slices.put(sliceWith([endpointAt('10.244.0.3')]))
  while (step.done !== true) step = taking.next()
  deepEqual(changesText(step.value), ['default/web:  → 10.244.0.2'])
  equal(notifications(), before + 1)
  deepEqual(changesText(taken(table)), ['default/web: 10.244.0.2 → 10.244.0.3'])
})

test('the Service kubernetes does not lead to API servers that are avoided, unless all of them are', () => {
  const services = new ScriptedSource<Service>()
  const slices = new ScriptedSource<EndpointSlice>()
  const nodes = new ScriptedSource<Node>()
  const avoided = new Set<string>()
  let changed = () => {}
  const avoidedServers = {
    has: ({ address, port }: { readonly address: string; readonly port: number }) => avoided.has(`${address}:${port}`),
    onChange: (handler: () => void) => (changed = handler),
  }
  const table = new RouteTable({ services, slices, nodes, nodeName: 'node-a', avoidedServers }, () => {})
  const avoid = (...servers: string[]) => {
    avoided.clear()
    for (const server of servers) avoided.add(server)
    changed()
    return changesText(taken(table))
  }
  const endpoints = ['192.0.2.1', '192.0.2.2'].map((address) => endpointAt(address))
  const ports = [{ name: 'https', protocol: 'TCP', port: 6443 }]
  const servicePorts = [{ name: 'https', protocol: 'TCP', port: 443, targetPort: 6443 }]
  for (const name of ['kubernetes', 'other']) {
    services.put(serviceWith({ ports: servicePorts }, { name }))
    slices.put(sliceWith(endpoints, { ports, metadata: sliceMetadata(name) }))
  }
  equal(taken(table).length, 2)
  deepEqual(avoid('192.0.2.1:6443'), ['default/kubernetes: 192.0.2.1 192.0.2.2 → 192.0.2.2'])
  deepEqual(avoid('192.0.2.1:6443', '192.0.2.2:6443'), ['default/kubernetes: 192.0.2.2 → 192.0.2.1 192.0.2.2'])
  deepEqual(avoid('192.0.2.1:443'), ['default/kubernetes: 192.0.2.1 192.0.2.2 → 192.0.2.1 192.0.2.2'])
})

const sliceMetadata = (name: string) => ({
  name,
  namespace: 'default',
  labels: { 'kubernetes.io/service-name': name },
})
