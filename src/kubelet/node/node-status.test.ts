import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { healthyNode, nodeObject, type NodeDescription } from './node-status.ts'

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
