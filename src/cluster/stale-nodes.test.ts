import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import type { Node } from '../api/core/v1/node.ts'
import { staleNodes } from './stale-nodes.ts'

const node = (name: string, runtime: string, address: string): Node =>
  ({
    metadata: { name },
    status: { nodeInfo: { containerRuntimeVersion: runtime }, addresses: [{ type: 'InternalIP', address }] },
  }) as unknown as Node
const simulated = (index: number) => node(`node-${index}`, 'simulated://0.0.1', `192.0.2.${index + 1}`)
const box = node('box', 'containerd://2.0', '127.0.0.1')
const joined = node('node-7', 'simulated://0.0.1', '10.0.0.7')

const rows: [what: string, nodes: Node[], created: string[], requested: string[], stale: string[]][] = [
  ['fewer simulated ones', [0, 1, 2].map(simulated), [], ['node-0'], ['node-1', 'node-2']],
  ['real instead of simulated', [simulated(0), box], ['node-0'], ['box'], ['node-0']],
  ['simulated instead of real', [simulated(0), box], ['box'], ['node-0'], ['box']],
  ['a machine that joined', [simulated(0), box, joined], [], ['node-0'], []],
  ['more than before', [simulated(0)], ['node-0'], ['node-0', 'node-1'], []],
]
for (const [what, nodes, created, requested, stale] of rows)
  test(`nodes that are not requested any more: ${what}`, () => deepEqual(staleNodes(nodes, created, requested), stale))
