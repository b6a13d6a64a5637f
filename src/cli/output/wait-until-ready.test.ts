import { deepEqual, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import type { Lease } from '../../api/coordination/v1/lease.ts'
import type { Node } from '../../api/core/v1/node/node.ts'
import { realClock } from '../../base/time/clock.ts'
import { startCluster } from '../../cluster/testing/start-cluster.ts'
import { missingParts, waitUntilReady, type ClusterState } from './wait-until-ready.ts'

const sinceMs = Date.parse('2030-01-01T00:00:00Z')
const condition = (type: string, status: string, message?: string) => ({ conditions: [{ type, status, message }] })
const node = (name: string, status = 'True', message?: string) =>
  ({ metadata: { name }, status: condition('Ready', status, message) }) as unknown as Node
const lease = (name: string, renewTime = '2030-01-01T00:00:01.000000Z') =>
  ({ metadata: { name }, spec: { renewTime } }) as unknown as Lease

const ready: ClusterState = {
  nodes: [node('a')],
  leases: [lease('a')],
  hasAccount: true,
}
const rows: [what: string, state: Partial<ClusterState>, nodes: number, missing: string[]][] = [
  ['nothing', {}, 1, []],
  ['no node', { nodes: [], leases: [] }, 1, ['0 of 1 node is ready']],
  ['a second node', {}, 2, ['1 of 2 nodes are ready']],
  [
    'a network',
    { nodes: [node('a', 'False', 'the network is not ready')] },
    1,
    ['0 of 1 node is ready', 'node a is not ready: the network is not ready'],
  ],
  ['a status', { nodes: [node('a', 'Unknown')] }, 1, ['0 of 1 node is ready', 'node a is not ready']],
  [
    'a heartbeat of this start',
    { leases: [lease('a', '2029-12-31T23:59:59.000000Z')] },
    1,
    ['0 of 1 node is ready', 'node a has not reported since the start'],
  ],
  ['a heartbeat', { leases: [] }, 1, ['0 of 1 node is ready', 'node a has not reported since the start']],
  ['a node of another machine', { nodes: [node('a'), node('b', 'False')], leases: [lease('a'), lease('b')] }, 1, []],
  ['nodes, where none are started', { nodes: [], leases: [] }, 0, []],
  [
    'many nodes',
    { nodes: ['a', 'b', 'c', 'd', 'e'].map((name) => node(name)), leases: [] },
    5,
    [
      '0 of 5 nodes are ready',
      ...['a', 'b', 'c'].map((name) => `node ${name} has not reported since the start`),
      '2 more nodes are not ready',
    ],
  ],
  ['a ServiceAccount', { hasAccount: false }, 1, ['the namespace default has no ServiceAccount yet']],
]
for (const [what, state, nodes, missing] of rows)
  test(`a cluster that lacks ${what}`, () =>
    deepEqual(missingParts({ ...ready, ...state }, { nodes, sinceMs }), missing))

test('a cluster is waited for until it is ready, at most for the timeout', async () => {
  await using cluster = await startCluster({ time: 'flowing', nodes: 1 })
  const { signal } = new AbortController()
  const sinceStartMs = 0
  const wait = (nodes: number, timeoutMs: number) =>
    waitUntilReady(cluster.client, { nodes, sinceMs: sinceStartMs, timeoutMs }, realClock, signal)
  deepEqual(await wait(1, 60_000), [])
  deepEqual(await wait(2, 0), ['1 of 2 nodes are ready'])
  cluster.faults.reject({ verb: 'list', code: 503, times: 100 })
  deepEqual(
    (await wait(1, 0)).map((text) => text.slice(0, 30)),
    ['the API server does not answer'],
  )
})

test('an abort ends the wait', async () => {
  await using cluster = await startCluster()
  const limits = { nodes: 2, sinceMs: 0, timeoutMs: 60_000 }
  await rejects(waitUntilReady(cluster.client, limits, realClock, AbortSignal.abort()), { name: 'AbortError' })
})
