import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import type { Node } from '../../api/core/v1/node/node.ts'
import type { Client } from '../../client/client.ts'
import { context } from '../../base/observability/context.ts'
import { silentLog } from '../../base/observability/log.ts'
import { removeStaleNodes, staleNodes } from './stale-nodes.ts'

const node = (name: string, runtime: string, address: string): Node =>
  ({
    metadata: { name },
    status: { nodeInfo: { containerRuntimeVersion: runtime }, addresses: [{ type: 'InternalIP', address }] },
  }) as unknown as Node
const simulated = (index: number) => node(`node-${index}`, 'simulated://0.0.1', `192.0.2.${index + 1}`)
const box = node('box', 'containerd://2.0', '127.0.0.1')
const joined = node('node-7', 'simulated://0.0.1', '10.0.0.7')

const rows: [what: string, nodes: Node[], created: string[], requested: string[], stale: string[]][] = [
  ['fewer simulated nodes than before', [0, 1, 2].map(simulated), [], ['node-0'], ['node-1', 'node-2']],
  ['a real node instead of simulated ones', [simulated(0), box], ['node-0'], ['box'], ['node-0']],
  ['simulated nodes instead of a real one', [simulated(0), box], ['box'], ['node-0'], ['box']],
  ['a machine that has joined', [simulated(0), box, joined], [], ['node-0'], []],
  ['more nodes than before', [simulated(0)], ['node-0'], ['node-0', 'node-1'], []],
]
for (const [what, nodes, created, requested, stale] of rows)
  test(`nodes that are no longer requested: ${what}`, () =>
    deepEqual(staleNodes(nodes, { created, requested, isShared: false }), stale))

test('of a shared store, simulated nodes are left to the process that runs them', () => {
  const nodes = [simulated(0), simulated(1), box]
  const names = { created: ['node-0', 'box'], requested: [], isShared: true }
  deepEqual(staleNodes(nodes, names), ['box'])
})

/** A cluster with these nodes and a pod on each; deletions of pods fail with `failure`. */
function cluster(nodes: Node[], failure?: Error) {
  const deleted: string[] = []
  const pods = nodes.map(({ metadata: { name } }) => ({
    metadata: { name: `on-${name}`, namespace: 'default', uid: name },
    spec: { nodeName: name },
  }))
  const of = ({ plural }: { plural: string }) => ({
    list: () => Promise.resolve({ items: plural === 'nodes' ? nodes : pods }),
    delete(name: string, _namespace: string, options: object) {
      if (plural === 'pods' && failure !== undefined) return Promise.reject(failure)
      deleted.push(`${plural} ${name} ${JSON.stringify(options)}`)
      return Promise.resolve()
    },
  })
  const directory = {
    marker: { format: 1, kind: 'cluster', foreign: [], nodes: ['node-0', 'box'] as readonly string[] } as const,
    noted: [] as (readonly string[] | undefined)[],
    note(fields: { nodes?: readonly string[] }) {
      this.noted.push(fields.nodes)
      return Promise.resolve()
    },
  }
  return { deleted, directory, client: { of } as unknown as Client }
}
const ctx = context(new AbortController().signal)

test('a node is deleted before its pods, which are deleted without a kubelet', async () => {
  const { deleted, directory, client } = cluster([simulated(0), box, joined])
  await removeStaleNodes({ directory, client, log: silentLog, isShared: false }, ['node-0'], ctx)
  deepEqual(deleted, ['nodes box {}', 'pods on-box {"gracePeriodSeconds":0,"uid":"box"}'])
  deepEqual(directory.noted, [['node-0', 'box'], ['node-0']])
})

test('an object that could not be deleted is retried later and does not block the start', async () => {
  const { directory, client } = cluster([box], new Error('the store is full'))
  await removeStaleNodes({ directory, client, log: silentLog, isShared: false }, ['node-0'], ctx)
  deepEqual(directory.noted, [['node-0', 'box']])
})
