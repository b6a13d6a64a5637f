// How long a test waits for a cluster, and the throughput of the direct transport.
import { context, configMap, deployment, pod, startCluster } from '../src/cluster/index.ts'
import type { Bench } from './bench.ts'

const ctx = context(new AbortController().signal)
const labels = { app: 'web' }
const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } }

interface Start {
  readonly startMs: number
  readonly runningMs: number
  /** Processor time of the thread alone: the better measure on a busy machine. */
  readonly startProcessorMs: number
  readonly runningProcessorMs: number
}

async function firstPods(replicas: number): Promise<Start> {
  const begin = performance.now()
  const processor = process.threadCpuUsage()
  const processorMs = () => {
    const { user, system } = process.threadCpuUsage(processor)
    return (user + system) / 1000
  }
  await using cluster = await startCluster({ nodes: Math.ceil(replicas / 100) })
  const startMs = performance.now() - begin
  const startProcessorMs = processorMs()
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
  return { startMs, startProcessorMs, runningMs: performance.now() - begin, runningProcessorMs: processorMs() }
}

const warmRounds = 10

/** The best of several runs, separately for each figure. */
async function warmStart(): Promise<Start> {
  const starts: Start[] = []
  for (let round = 0; round < warmRounds; round++) starts.push(await firstPods(3))
  const best = (of: (start: Start) => number) => Math.min(...starts.map(of))
  return {
    startMs: best(({ startMs }) => startMs),
    runningMs: best(({ runningMs }) => runningMs),
    startProcessorMs: best(({ startProcessorMs }) => startProcessorMs),
    runningProcessorMs: best(({ runningProcessorMs }) => runningProcessorMs),
  }
}

async function createsPerSecond(count: number): Promise<number> {
  await using cluster = await startCluster({ nodes: 0 })
  const maps = cluster.client.of(configMap)
  const begin = performance.now()
  for (let index = 0; index < count; index++)
    await maps.create({ metadata: { name: `m${index}` }, data: { a: 'b' } }, 'default', ctx)
  return (count * 1000) / (performance.now() - begin)
}

/**
 * Time to restore a snapshot with this many ConfigMaps, best and median of several runs: until the API responds, and
 * until every component works again.
 */
async function restoreMs(objects: number): Promise<Record<'answers' | 'works', { best: number; middle: number }>> {
  await using cluster = await startCluster()
  const maps = cluster.client.of(configMap)
  for (let index = 0; index < objects; index++)
    await maps.create({ metadata: { name: `m${index}` }, data: { a: 'b' } }, 'default', ctx)
  const snapshot = cluster.snapshot()
  const answers: number[] = []
  const works: number[] = []
  for (let round = 0; round < restoreRounds; round++) {
    const begin = performance.now()
    await cluster.restore(snapshot)
    answers.push(performance.now() - begin)
    await cluster.clock.settle()
    works.push(performance.now() - begin)
  }
  return { answers: bestAndMiddle(answers), works: bestAndMiddle(works) }
}

function bestAndMiddle(times: readonly number[]): { best: number; middle: number } {
  const sorted = times.toSorted((a, b) => a - b)
  return { best: sorted[0] ?? 0, middle: sorted[sorted.length >> 1] ?? 0 }
}

const restoreRounds = 15

export const clusterBench: Bench = {
  name: 'cluster',
  async run() {
    const cold = await firstPods(3)
    const warm = await warmStart()
    const back = await restoreMs(1000)
    const large = await firstPods(500)
    const creates = await createsPerSecond(20_000)
    return [
      `startCluster(): the first time ${cold.startMs.toFixed(0)} ms (CPU ${cold.startProcessorMs.toFixed(0)} ms), later ${warm.startMs.toFixed(0)} ms (CPU ${warm.startProcessorMs.toFixed(0)} ms)`,
      `with a Deployment of 3 pods Running: the first time ${cold.runningMs.toFixed(0)} ms (CPU ${cold.runningProcessorMs.toFixed(0)} ms), later ${warm.runningMs.toFixed(0)} ms (CPU ${warm.runningProcessorMs.toFixed(0)} ms)`,
      `restore() at 1,000 objects: ${back.answers.best.toFixed(1)} ms at best, ${back.answers.middle.toFixed(1)} ms in the middle; with every component at work again: ${back.works.best.toFixed(1)} ms, ${back.works.middle.toFixed(1)} ms`,
      `a Deployment of 500 pods on 5 nodes, all Running: ${large.runningMs.toFixed(0)} ms`,
      `creates of ConfigMaps through the direct transport, one after the other: ${creates.toFixed(0)}/s`,
    ]
  },
}
