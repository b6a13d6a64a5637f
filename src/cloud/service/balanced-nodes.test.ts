// The nodes that load balancers send to, and the changes that update them.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { node } from '../../api/core/v1/node/node.ts'
import { made } from '../../controllers/runtime/plan.harness.ts'
import { balancedNodes, changesBalancers, excludedNodeLabel } from './balanced-nodes.ts'

const usual = (name: string, metadata: object = {}, spec: object = {}) =>
  made(node, name, { metadata, spec: { providerID: `cloud://${name}`, ...spec } })

const labels = { [excludedNodeLabel]: '' }
const taints = [{ key: 'ToBeDeletedByClusterAutoscaler', effect: 'NoSchedule' }]

test('excluded nodes, nodes without an instance and nodes that are removed do not count', () => {
  const nodes = [
    usual('b'),
    usual('a', {}, { taints: [{ key: 'other', effect: 'NoSchedule' }] }),
    usual('excluded', { labels }),
    usual('removed', {}, { taints }),
    usual('deleted', { deletionTimestamp: '2030-01-01T00:00:00Z' }),
    usual('unknown', {}, { providerID: '' }),
  ]
  deepEqual(
    balancedNodes(nodes).map(({ metadata }) => metadata.name),
    ['a', 'b'],
  )
})

test('load balancers are updated for the exclusion label and the instance, not for a taint', () => {
  const cases: [ReturnType<typeof usual> | undefined, ReturnType<typeof usual> | undefined, boolean][] = [
    [undefined, usual('a'), true],
    [usual('a'), undefined, true],
    [usual('a'), usual('a'), false],
    [usual('a'), usual('a', { labels }), true],
    [usual('a', {}, { providerID: '' }), usual('a'), true],
    [usual('a'), usual('a', {}, { taints }), false],
  ]
  for (const [before, now, expected] of cases) equal(changesBalancers(before, now), expected)
})
