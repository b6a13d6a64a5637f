// Hosts by address: nodes, pods and hosts outside the cluster, and when they are reachable.
import { deepEqual, equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { noOwner } from '../../machine/network/simulated-connection.ts'
import { NetworkHosts } from './network-hosts.ts'

function hostsWith() {
  const hosts = new NetworkHosts(new VirtualClock())
  const listener = { owner: noOwner, accept: () => {} }
  const machine = {
    isOn: true,
    podAt: (address: string) =>
      address === '10.0.0.1' ? { namespace: 'default', name: 'web', listenerAt: () => listener } : undefined,
    nodeListenerAt: (port: number) => (port === 80 ? listener : undefined),
  }
  hosts.addNode({ name: 'node-0', address: '192.0.2.1', machine })
  const outside = hosts.addOutside('Pay.example.com', { 80: () => ({ status: 200 }) })
  return { hosts, machine, outside }
}

const shown = (hosts: NetworkHosts, address: string) => {
  const host = hosts.at(address)
  return host === undefined
    ? undefined
    : `${host.pod} ${host.node} ${[80, 81].filter((port) => host.listenerAt(port)).join()}`
}

test('nodes, pods and outside hosts have addresses', () => {
  const { hosts, outside } = hostsWith()
  deepEqual(
    ['192.0.2.1', '10.0.0.1', outside, '10.0.0.2'].map((address) => shown(hosts, address)),
    [' node-0 80', 'default/web node-0 80,81', '  80', undefined],
  )
  deepEqual([hosts.isPod('10.0.0.1'), hosts.isPod(outside), hosts.isOutside(outside)], [true, false, true])
  deepEqual([hosts.addressOf('node-0'), hosts.addressOf('node-1')], ['192.0.2.1', ''])
})

test('a node without power and its pods are not reachable', () => {
  const { hosts, machine } = hostsWith()
  machine.isOn = false
  deepEqual(
    [shown(hosts, '192.0.2.1'), shown(hosts, '10.0.0.1'), hosts.nodeAt('192.0.2.1')],
    [undefined, undefined, undefined],
  )
  deepEqual([hosts.nodesOn(), hosts.node('node-0')?.name], [[], 'node-0'])
})

test('the first of several nodes with one address keeps it', () => {
  const { hosts, machine } = hostsWith()
  hosts.addNode({ name: 'node-254', address: '192.0.2.1', machine })
  equal(hosts.nodeAt('192.0.2.1')?.name, 'node-0')
})

test('a host outside the cluster keeps its address when it is added again', () => {
  const { hosts, outside } = hostsWith()
  equal(hosts.addOutside('pay.example.com', { 81: () => ({ status: 200 }) }), outside)
  equal(shown(hosts, outside), '  81')
  deepEqual([hosts.outsideAddresses('pay.example.com'), hosts.outsideAddresses('x')], [[outside], undefined])
})

test('there are at most 254 hosts outside the cluster', () => {
  const { hosts } = hostsWith()
  for (let index = 2; index <= 254; index++) hosts.addOutside(`host-${index}`, {})
  throws(
    () => hosts.addOutside('one-more', {}),
    /there are 254 hosts outside the cluster, and one-more would be one more/,
  )
})
