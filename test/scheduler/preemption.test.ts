// Preemption end to end on the virtual clock: several preemptors, requests that fail, pods that are deleted.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { context, pod, startCluster, type TestCluster } from '../../src/cluster/index.ts'

const ctx = context(new AbortController().signal)
const large = { containers: [{ name: 'c', image: 'x', resources: { requests: { cpu: '6' } } }] }
const vip = { ...large, priorityClassName: 'system-node-critical' }

const makePod = ({ client }: TestCluster, name: string, spec: object) =>
  client.of(pod).create({ metadata: { name }, spec: { ...large, ...spec } }, 'default', ctx)
const getPod = ({ client }: TestCluster, name: string) => client.of(pod).get(name, 'default', ctx)
const names = (prefix: string, count: number) => Array.from({ length: count }, (_, index) => `${prefix}-${index}`)

/** A cluster in which no node has space for another large pod. */
async function fullCluster(nodes: number): Promise<TestCluster> {
  const cluster = await startCluster({ nodes })
  for (const name of names('old', nodes)) await makePod(cluster, name, large)
  await cluster.clock.advance('5s')
  for (const name of names('old', nodes)) equal((await getPod(cluster, name)).status.phase, 'Running')
  return cluster
}

for (const verb of ['patch', 'delete'] as const)
  test(`a preemption is repeated after a backoff when the ${verb} of its victim fails`, async () => {
    await using cluster = await fullCluster(1)
    cluster.faults.reject({ verb, kind: pod, sender: 'scheduler', code: 500, times: 1 })
    await makePod(cluster, 'vip', vip)
    await cluster.clock.advance('10s')
    equal((await getPod(cluster, 'vip')).status.phase, 'Running')
  })

test('pods that preempt at the same time nominate a node each, and delete no more victims than they need', async () => {
  await using cluster = await fullCluster(3)
  await cluster.kill('scheduler')
  for (const name of names('vip', 3)) await makePod(cluster, name, vip)
  cluster.start('scheduler')
  await cluster.clock.advance('10s')
  const nominations = names('vip', 3).flatMap((name) =>
    [...cluster.flow(pod, name).matchAll(/room is made on (node-\d) (vip-\d)/g)]
      .filter(([, , preemptor]) => preemptor === name)
      .map(([, nodeName]) => nodeName),
  )
  deepEqual(nominations.toSorted(), names('node', 3))
  for (const name of names('vip', 3)) equal((await getPod(cluster, name)).status.phase, 'Running')
})
