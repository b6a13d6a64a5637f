// How long a test waits for a cluster, and how fast objects pass through the direct transport.
import { context, configMap, deployment, pod, startCluster } from '../src/cluster/index.ts'
import type { Bench } from './bench.ts'

const ctx = context(new AbortController().signal)
const labels = { app: 'web' }
const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } }

async function firstPods(replicas: number): Promise<{ startMs: number; runningMs: number }> {
  const begin = performance.now()
  await using cluster = await startCluster({ nodes: Math.ceil(replicas / 100) })
  const startMs = performance.now() - begin
  await cluster.client
    .of(deployment)
    .create(
      { metadata: { name: 'web' }, spec: { replicas, selector: { matchLabels: labels }, template } },
      'default',
      ctx,
    )
  await cluster.clock.advance('30s')
  const pods = (await cluster.client.of(pod).list({}, ctx)).items
  if (pods.filter(({ status }) => status.phase === 'Running').length !== replicas) throw new Error('not every pod runs')
  return { startMs, runningMs: performance.now() - begin }
}

async function createsPerSecond(count: number): Promise<number> {
  await using cluster = await startCluster({ nodes: 0 })
  const maps = cluster.client.of(configMap)
  const begin = performance.now()
  for (let index = 0; index < count; index++)
    await maps.create({ metadata: { name: `m${index}` }, data: { a: 'b' } }, 'default', ctx)
  return (count * 1000) / (performance.now() - begin)
}

/** How long it takes to go back to a snapshot of so many ConfigMaps, best and middle of several. */
async function restoreMs(objects: number): Promise<{ best: number; middle: number; processorMs: number }> {
  await using cluster = await startCluster()
  const maps = cluster.client.of(configMap)
  for (let index = 0; index < objects; index++)
    await maps.create({ metadata: { name: `m${index}` }, data: { a: 'b' } }, 'default', ctx)
  const snapshot = cluster.snapshot()
  const times: number[] = []
  const processor = process.cpuUsage()
  for (let round = 0; round < restoreRounds; round++) {
    const begin = performance.now()
    await cluster.restore(snapshot)
    times.push(performance.now() - begin)
  }
  const { user, system } = process.cpuUsage(processor)
  const [best = 0, ...rest] = times.toSorted((a, b) => a - b)
  return { best, middle: rest[rest.length >> 1] ?? 0, processorMs: (user + system) / 1000 / restoreRounds }
}

const restoreRounds = 15

export const clusterBench: Bench = {
  name: 'cluster',
  async run() {
    const cold = await firstPods(3)
    const warm = await firstPods(3)
    const back = await restoreMs(1000)
    const large = await firstPods(500)
    const creates = await createsPerSecond(20_000)
    return [
      `startCluster() and a Deployment of 3 pods Running: ${cold.runningMs.toFixed(0)} ms the first time, ${warm.runningMs.toFixed(0)} ms after (start alone ${warm.startMs.toFixed(1)} ms)`,
      `restore() at 1,000 objects: ${back.best.toFixed(1)} ms at best, ${back.middle.toFixed(1)} ms in the middle (CPU ${back.processorMs.toFixed(1)} ms)`,
      `a Deployment of 500 pods on 5 nodes, all Running: ${large.runningMs.toFixed(0)} ms`,
      `creates of ConfigMaps through the direct transport, one after the other: ${creates.toFixed(0)}/s`,
    ]
  },
}
