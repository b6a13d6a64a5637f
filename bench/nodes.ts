// Thousands of simulated nodes in one process, on virtual time: the real kubelet on simulated drivers. What counts is CPU:
// on an idle machine one core does this in as many seconds.
import { isNodeReady } from '../src/api/core/v1/node.ts'
import { context, namespace, node, pod, startCluster, type TestCluster } from '../src/cluster/index.ts'
import type { Bench } from './bench.ts'

const ctx = context(new AbortController().signal)
const home = 'load'
/** Creates that are under way at once. */
const createsAtOnce = 100

async function load(nodes: number, pods: number): Promise<string[]> {
  let cluster: TestCluster | undefined
  const started = await cpuSeconds(async () => {
    cluster = await startCluster({ nodes })
    await until(cluster, async ({ client }) =>
      (await client.of(node).list({}, ctx)).items.every((each) => isNodeReady(each) && each.spec.taints === undefined),
    )
  })
  await using running = cluster as unknown as TestCluster
  const { client, clock } = running
  const emptyMb = heapMb()
  const idle = await cpuSeconds(() => clock.advance('1m'))
  await client.of(namespace).create({ metadata: { name: home } }, '', ctx)
  await clock.advance('1s')
  const made = await cpuSeconds(async () => {
    await createPods(running, pods)
    const isRunning = async () =>
      (await client.of(pod).list({ namespace: home, fieldSelector: 'status.phase=Running' }, ctx)).items.length === pods
    await until(running, isRunning)
  })
  const fullMb = heapMb()
  const held = await cpuSeconds(() => clock.advance('1m'))
  const deleted = await cpuSeconds(async () => {
    await client.of(namespace).delete(home, '', {}, ctx)
    await until(running, async () => (await client.of(namespace).find(home, '', ctx)) === undefined)
  })
  const of = `${nodes.toLocaleString('en')} nodes`
  const and = `${pods.toLocaleString('en')} pods`
  return [
    `${of} registered and ready: CPU ${started.toFixed(1)} s, ${((emptyMb * 1024) / nodes).toFixed(0)} KB of heap each`,
    `${of} idle for a minute, a lease each every ten seconds: CPU ${idle.toFixed(1)} s, ${((idle / 60) * 100).toFixed(0)} % of a core`,
    `${and} on them, created to Running: CPU ${made.toFixed(1)} s, ${((made / pods) * 1000).toFixed(2)} ms each`,
    `${and} held for a minute: CPU ${held.toFixed(1)} s, ${((held / 60) * 100).toFixed(0)} % of a core; heap ${fullMb.toFixed(0)} MB`,
    `${and} deleted with their namespace: CPU ${deleted.toFixed(1)} s, ${((deleted / pods) * 1000).toFixed(2)} ms each`,
  ]
}

async function createPods({ client, clock }: TestCluster, pods: number): Promise<void> {
  const spec = { containers: [{ name: 'c', image: 'i' }] }
  let next = 0
  const creator = async () => {
    for (let index = next++; index < pods; index = next++)
      await client
        .of(pod)
        .create({ metadata: { name: `p-${index}`, labels: { app: `a-${index % 100}` } }, spec }, home, ctx)
  }
  let isCreated = false
  const creating = Promise.all(Array.from({ length: createsAtOnce }, creator)).then(() => (isCreated = true))
  // Time goes on meanwhile: somebody who is refused for a moment waits for a timer.
  await clock.runUntil(() => isCreated, '1h')
  await creating
}

async function until(cluster: TestCluster, condition: (cluster: TestCluster) => Promise<boolean>): Promise<void> {
  for (let seconds = 0; seconds < 600; seconds++) {
    if (await condition(cluster)) return
    await cluster.clock.advance('1s')
  }
  throw new Error('it takes longer than ten minutes of the cluster’s own time')
}

async function cpuSeconds(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1e6
}

function heapMb(): number {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed / 1024 / 1024
}

/** The whole load takes minutes: a tenth of it unless BENCH_SCALE says otherwise. */
const scale = Number(process.env['BENCH_SCALE'] ?? 0.1)
const [nodeCount, podCount] = [Math.ceil(5_000 * scale), Math.ceil(50_000 * scale)]

export const nodesBench: Bench = {
  name: 'nodes',
  run: () => load(nodeCount, podCount),
}
