// Flow 04, scheduling: the best of several nodes, preemption, and a binding that fails.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { context, pod, startCluster, type TestCluster } from '../../src/cluster/index.ts'
import { comparePage, excerpt, inOrder, settled } from './page.ts'

const ctx = context(new AbortController().signal)

async function start(cpu: string): Promise<{ cluster: TestCluster; create: (name: string, spec?: object) => unknown }> {
  const cluster = await startCluster({ nodes: 2, seed: 4 })
  const create = (name: string, spec: object = {}) => {
    const containers = [{ name: 'c', image: 'x', resources: { requests: { cpu } } }]
    return cluster.client.of(pod).create({ metadata: { name }, spec: { containers, ...spec } }, 'default', ctx)
  }
  await cluster.clock.advance('1s')
  return { cluster, create }
}

async function roomIsMade(): Promise<string> {
  const { cluster, create } = await start('6')
  await using _cluster = cluster
  for (const name of ['low-1', 'low-2']) await create(name)
  await cluster.clock.advance('5s')
  await create('vip', { priorityClassName: 'system-node-critical' })
  await cluster.clock.advance('10s')
  return settled(cluster.flow(pod, 'vip'))
}

/** Two pods in sequence; the first binding of the second one fails. */
async function spread(): Promise<{ first: string; second: string }> {
  const { cluster, create } = await start('1')
  await using _cluster = cluster
  await create('first')
  await cluster.clock.advance('5s')
  cluster.faults.reject({ kind: pod, subresource: 'binding' })
  await create('second')
  await cluster.clock.advance('5s')
  const pods = (await cluster.client.of(pod).list({ namespace: 'default' }, ctx)).items
  deepEqual(pods.map(({ spec }) => spec.nodeName).toSorted(), ['node-0', 'node-1'], 'each where more is free')
  return { first: cluster.flow(pod, 'first'), second: cluster.flow(pod, 'second') }
}

test('04 scheduling', async () => {
  const { first, second } = await spread()
  const room = await roomIsMade()
  inOrder(room, /0\/2 nodes are available/, /PostFilter: room is made/, /delete pods low/, /create pods\/binding vip/)
  inOrder(second, /create pods\/binding second → 409 Conflict/, /create pods\/binding second → 201/)
  const arrows = [/test ──► API Server/, /scheduler/, /put pod/]
  await comparePage(
    '04-scheduling',
    'Scheduling',
    [
      {
        heading: 'The best of several nodes',
        text: 'A new pod enters the active queue. A scheduling cycle examines the pod (PreFilter) and the nodes (Filter) and scores the nodes that fit (Score). The best node is reserved immediately (Reserve), and the binding (Permit, PreBind, Bind) runs concurrently with the next cycle. The verdicts and scores of every plugin for every node are stored for the most recent pods: `coxswain why pod/first`.',
        diagram: excerpt(first, ...arrows),
      },
      {
        heading: 'Preemption',
        text: 'Two nodes are full of pods with a lower priority. No node fits, so PostFilter preempts one pod, and the new pod is bound to that node once the resources are free.',
        diagram: room,
      },
      {
        heading: 'A binding fails',
        text: 'The attempt is undone, and the pod is retried after a backoff (1 s, doubling to 10 s).',
        diagram: excerpt(second, ...arrows),
      },
    ],
    [
      [
        'no node fits, and preemption does not help',
        'the pod is unschedulable until an event that a rejecting plugin waits for ([Pod creation](01-pod-creation.md)), or for five minutes',
        'src/scheduler/queue/scheduling-queue.test.ts',
        'test/scheduler/placement.test.ts',
      ],
      [
        'the scheduler stops between Reserve and Bind',
        'nothing was written; the next scheduler schedules the pod again',
        'src/scheduler/scheduler.test.ts',
      ],
      [
        'two schedulers',
        'each schedules the pods of its own profiles; a pod that is already bound causes a conflict and is skipped',
        'src/scheduler/scheduler.test.ts',
        'test/scheduler/placement.test.ts',
      ],
    ],
  )
})
