import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import {
  cloudIdentity,
  hasCurrentAmounts,
  healthyNode,
  nodeObject,
  nodeStatus,
  type NodeDescription,
} from './node-status.ts'

const description: NodeDescription = {
  name: 'a',
  hostIp: '192.0.2.1',
  capacity: { cpu: '4' },
  runtime: 'simulated://1',
  operatingSystem: 'linux',
  architecture: 'amd64',
}

const readyOf = (problems: readonly string[]) =>
  nodeObject(description, { pressures: [], problems }, 0).status?.conditions?.find(({ type }) => type === 'Ready')

test('a node registers with its pod ranges, taints and labels', () => {
  const taints = [{ key: 'gpu', effect: 'NoSchedule', value: '' }] as const
  const own = { ...description, podCidrs: ['10.244.0.0/24', 'fd00::/64'], taints, labels: { disk: 'ssd' } }
  const { spec, metadata } = nodeObject(own, healthyNode, 0)
  deepEqual(spec, { podCIDR: '10.244.0.0/24', podCIDRs: ['10.244.0.0/24', 'fd00::/64'], taints: [...taints] })
  equal(metadata.labels?.['disk'], 'ssd')
  equal(nodeObject(description, healthyNode, 0).spec, undefined)
})

test('a node without problems is ready; one problem is its message, several are in brackets', () => {
  equal(readyOf([])?.status, 'True')
  deepEqual([readyOf(['no network'])?.status, readyOf(['no network'])?.message], ['False', 'no network'])
  equal(readyOf(['no network', 'no runtime'])?.message, '[no network, no runtime]')
})

test('a node of a cloud is tainted until it is initialized, and reports no address that it was not given', () => {
  const cloud = { ...description, ...cloudIdentity({ cloudProvider: 'external', providerId: 'cloud://i-1' }) }
  const { spec, metadata, status } = nodeObject(cloud, healthyNode, 0)
  const taint = { key: 'node.cloudprovider.kubernetes.io/uninitialized', value: 'true', effect: 'NoSchedule' }
  deepEqual([spec?.taints, spec?.providerID], [[taint], 'cloud://i-1'])
  deepEqual(status?.addresses, [{ type: 'Hostname', address: description.name }])
  const annotation = 'alpha.kubernetes.io/provided-node-ip'
  equal(metadata?.annotations?.[annotation], undefined)
  const given = nodeObject({ ...cloud, isHostIpGiven: true }, healthyNode, 0)
  equal(given.metadata?.annotations?.[annotation], description.hostIp)
  deepEqual(given.status?.addresses?.[0], { type: 'InternalIP', address: description.hostIp })
})

test('addresses of the cloud and conditions of other components are kept', () => {
  const addresses = [{ type: 'ExternalIP', address: '198.51.100.1' }]
  const network = { type: 'NetworkUnavailable', status: 'False', reason: 'RouteCreated', message: '' }
  const cloud = { ...description, hasCloudProvider: true }
  const status = nodeStatus(cloud, { addresses, conditions: [network] }, healthyNode, 0)
  deepEqual(status.addresses, addresses)
  deepEqual(
    (status.conditions ?? []).map(({ type }) => type),
    ['NetworkUnavailable', 'MemoryPressure', 'DiskPressure', 'PIDPressure', 'Ready'],
  )
})

test('extended resources that others add to the capacity are kept and allocatable; other amounts are those of the kubelet', () => {
  const own = { ...description, allocatable: { cpu: '3' } }
  const gpus = { 'example.com/gpu': '2' }
  const disks = { 'example.com/disk': '1' }
  const changed = { capacity: { cpu: '64', swap: '1', ...gpus }, allocatable: { cpu: '64', ...disks } }
  const { capacity, allocatable } = nodeStatus(own, changed, healthyNode, 0)
  deepEqual(
    [capacity, allocatable],
    [
      { cpu: '4', ...gpus },
      { cpu: '3', ...gpus },
    ],
  )
  equal(hasCurrentAmounts(own, changed), false)
  equal(hasCurrentAmounts(own, { capacity: { ...gpus, cpu: '4' }, allocatable: { cpu: '3' } }), false)
  equal(hasCurrentAmounts(own, { capacity: { ...gpus, cpu: '4000m' }, allocatable: { ...gpus, cpu: '3' } }), true)
})
