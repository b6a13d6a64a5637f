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
const autoscalers = 1_000
const podsPerNode = 100
/** Each namespace has this many autoscalers, as in a cluster with many teams. */
const perNamespace = 50
const periodMs = 15_000
const periods = 8

const metrics = [
  { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } },
]

async function create({ client }: TestCluster): Promise<void> {
  for (let index = 0; index < autoscalers; index++) {
    const home = `team-${Math.floor(index / perNamespace)}`
    if (index % perNamespace === 0) await client.of(namespace).create({ metadata: { name: home } }, '', ctx)
    const labels = { app: `web-${index}` }
    const container = { name: 'c', image: 'i', resources: { requests: { cpu: '10m' } } }
    const template = { metadata: { labels }, spec: { containers: [container] } }
    const spec = { replicas: 1, selector: { matchLabels: labels }, template }
    await client.of(deployment).create({ metadata: { name: `web-${index}` }, spec }, home, ctx)
    const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: `web-${index}` }
    const scaled = { metadata: { name: `web-${index}` }, spec: { scaleTargetRef, maxReplicas: 3, metrics } }
    await client.of(horizontalPodAutoscaler).create(scaled, home, ctx)
  }
}

/** The time of the main thread in each period, in which components other than the autoscaler are nearly idle. */
async function periodsOf({ clock }: TestCluster): Promise<number[]> {
  const times: number[] = []
  for (let period = 0; period < periods; period++) {
    const start = process.cpuUsage()
    await clock.advance(periodMs)
    const { user, system } = process.cpuUsage(start)
    times.push((user + system) / 1_000)
  }
  return times
}

async function evaluation(): Promise<string[]> {
  const simulation = { usage: () => ({ cpuMillis: 5 }) }
  await using cluster = await startCluster({ nodes: autoscalers / podsPerNode, simulation })
  const idleMs = Math.min(...(await periodsOf(cluster)))
  await create(cluster)
  await cluster.clock.advance('6m')
  const busyMs = Math.min(...(await periodsOf(cluster)))
  return [
    `${autoscalers.toLocaleString('en')} autoscalers evaluated once: CPU ${(busyMs - idleMs).toFixed(0)} ms ` +
      `(${busyMs.toFixed(0)} ms in a period of 15 s of the cluster, ${idleMs.toFixed(0)} ms without them)`,
  ]
}

export const autoscalingBench: Bench = { name: 'autoscaling', run: evaluation }
