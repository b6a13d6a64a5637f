// How long the main thread is busy with one evaluation of many autoscalers: reading scales and metrics, deciding, and
// writing what changed.
import {
  context,
  deployment,
  horizontalPodAutoscaler,
  namespace,
  startCluster,
  type TestCluster,
} from '../src/cluster/index.ts'
import type { Bench } from './bench.ts'

const ctx = context(new AbortController().signal)
const autoscalers = Math.round(1_000 * Number(process.env['BENCH_SCALE'] ?? 1))
const podsPerNode = 100
/** Each namespace has this many autoscalers, as in a cluster with many teams. */
const perNamespace = 50
const periodMs = 15_000
const periods = 8

const metrics = [
  { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } },
]

async function createTargets({ client }: TestCluster): Promise<void> {
  for (let index = 0; index < autoscalers; index++) {
    const home = namespaceOf(index)
    if (index % perNamespace === 0) await client.of(namespace).create({ metadata: { name: home } }, '', ctx)
    const labels = { app: `web-${index}` }
    const container = { name: 'c', image: 'i', resources: { requests: { cpu: '10m' } } }
    const template = { metadata: { labels }, spec: { containers: [container] } }
    const spec = { replicas: 1, selector: { matchLabels: labels }, template }
    await client.of(deployment).create({ metadata: { name: `web-${index}` }, spec }, home, ctx)
  }
}

async function createAutoscalers({ client }: TestCluster): Promise<void> {
  for (let index = 0; index < autoscalers; index++) {
    const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: `web-${index}` }
    const scaled = { metadata: { name: `web-${index}` }, spec: { scaleTargetRef, maxReplicas: 3, metrics } }
    await client.of(horizontalPodAutoscaler).create(scaled, namespaceOf(index), ctx)
  }
}

const namespaceOf = (index: number): string => `team-${Math.floor(index / perNamespace)}`

interface Period {
  /** The processor time of the main thread. */
  readonly mainMs: number
  /** That of all threads, with those of the garbage collector and the compiler. */
  readonly processMs: number
}

/** The best of several periods: garbage of the preparation is collected in the others. */
async function measure({ clock }: TestCluster): Promise<Period> {
  let best: Period = { mainMs: Infinity, processMs: Infinity }
  for (let period = 0; period < periods; period++) {
    const mainStart = process.threadCpuUsage()
    const processStart = process.cpuUsage()
    await clock.advance(periodMs)
    const mainMs = milliseconds(process.threadCpuUsage(mainStart))
    if (mainMs < best.mainMs) best = { mainMs, processMs: milliseconds(process.cpuUsage(processStart)) }
  }
  return best
}

const milliseconds = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1_000

async function evaluation(): Promise<string[]> {
  const simulation = { usage: () => ({ cpuMillis: 5 }) }
  await using cluster = await startCluster({ nodes: Math.ceil(autoscalers / podsPerNode), simulation })
  await createTargets(cluster)
  await cluster.clock.advance('2m')
  const without = await measure(cluster)
  await createAutoscalers(cluster)
  await cluster.clock.advance('6m')
  const { mainMs, processMs } = await measure(cluster)
  return [
    `${autoscalers.toLocaleString('en')} autoscalers evaluated once: ${(mainMs - without.mainMs).toFixed(0)} ms of the main thread, ` +
      `CPU ${(processMs - without.processMs).toFixed(0)} ms (15 s of the cluster: ${mainMs.toFixed(0)} and ` +
      `${processMs.toFixed(0)} ms, without autoscalers ${without.mainMs.toFixed(0)} and ${without.processMs.toFixed(0)} ms)`,
  ]
}

export const autoscalingBench: Bench = { name: 'autoscaling', run: evaluation }
