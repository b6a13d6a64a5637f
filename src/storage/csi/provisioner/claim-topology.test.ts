import { deepEqual, throws } from 'node:assert/strict'
import { test } from 'node:test'
import type { Node } from '../../../api/core/v1/node/node.ts'
import type { CSINode } from '../../../api/storage/v1/csi-node.ts'
import { accessibilityRequirements, nodeSelectorTerms, type TopologyInput } from './claim-topology.ts'

const driverName = 'd'
const nodeOf = (name: string, labels: Record<string, string>) => ({ metadata: { name, labels } }) as unknown as Node
const csiNodeOf = (name: string, ...topologyKeys: string[]) =>
  ({ metadata: { name }, spec: { drivers: [{ name: driverName, nodeID: name, topologyKeys }] } }) as unknown as CSINode

const zones = ['a', 'b', 'c']
const nodes = zones.map((zone) => nodeOf(`node-${zone}`, { zone, rack: '1' }))
const csiNodes = zones.map((zone) => csiNodeOf(`node-${zone}`, 'zone'))
const input: TopologyInput = { driverName, nodes, csiNodes, allowedTopologies: [], selectedNode: undefined, seed: 'x' }

const segments = (all: readonly { readonly segments?: object | undefined }[] | undefined) =>
  all?.map((each) => Object.values(each.segments ?? {}).join('/'))

const rows: readonly (readonly [
  name: string,
  more: Partial<TopologyInput>,
  requisite: string[] | undefined,
  preferred: string[] | undefined,
])[] = [
  ['the selected node comes first', { selectedNode: 'node-b' }, ['a', 'b', 'c'], ['b', 'c', 'a']],
  ['without a selected node, claims are spread', { seed: 'x' }, ['a', 'b', 'c'], ['a', 'b', 'c']],
  ['another claim starts elsewhere', { seed: 'y' }, ['a', 'b', 'c'], ['b', 'c', 'a']],
  [
    'the class limits the segments',
    {
      selectedNode: 'node-c',
      allowedTopologies: [{ matchLabelExpressions: [{ key: 'zone', values: ['a', 'c'] }] }],
    },
    ['a', 'c'],
    ['c', 'a'],
  ],
  [
    'several keys of a class are combined',
    {
      allowedTopologies: [
        {
          matchLabelExpressions: [
            { key: 'zone', values: ['a', 'b'] },
            { key: 'rack', values: ['1'] },
          ],
        },
      ],
      seed: 'y',
    },
    ['a/1', 'b/1'],
    ['a/1', 'b/1'],
  ],
  ['nodes without the driver do not count', { csiNodes: [csiNodeOf('node-a', 'zone')] }, ['a'], ['a']],
  ['nodes without the label do not count', { nodes: [nodeOf('node-a', {})] }, undefined, undefined],
  ['nothing is required without nodes', { nodes: [], csiNodes: [] }, undefined, undefined],
]
for (const [name, more, requisite, preferred] of rows)
  test(name, () => {
    const found = accessibilityRequirements({ ...input, ...more })
    deepEqual([segments(found?.requisite), segments(found?.preferred)], [requisite, preferred])
  })

const failures: readonly (readonly [name: string, more: Partial<TopologyInput>, message: RegExp])[] = [
  ['unknown node', { selectedNode: 'x' }, /error getting CSINode for selected node "x"/],
  ['no keys', { selectedNode: 'node-a', csiNodes: [csiNodeOf('node-a')] }, /no topology key found on CSINode node-a/],
  ['no labels', { selectedNode: 'node-a', nodes: [nodeOf('node-a', {})] }, /topology labels from selected node/],
  [
    'not allowed',
    { selectedNode: 'node-a', allowedTopologies: [{ matchLabelExpressions: [{ key: 'zone', values: ['b'] }] }] },
    /is not in allowed topologies/,
  ],
]
for (const [name, more, message] of failures)
  test(`a selected node is rejected: ${name}`, () =>
    throws(() => accessibilityRequirements({ ...input, ...more }), message))

test('a volume is accessible from the nodes of any of its segments', () => {
  deepEqual(
    nodeSelectorTerms([{ segments: { zone: 'a', rack: '1' } }, { segments: {} }, { segments: { zone: 'b' } }]),
    [
      {
        matchExpressions: [
          { key: 'rack', operator: 'In', values: ['1'] },
          { key: 'zone', operator: 'In', values: ['a'] },
        ],
      },
      { matchExpressions: [{ key: 'zone', operator: 'In', values: ['b'] }] },
    ],
  )
})
