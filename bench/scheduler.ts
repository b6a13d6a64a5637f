// Workloads of upstream's scheduler_perf at 5,000 nodes. BENCH_PARTS selects parts and BENCH_WORKLOADS workloads,
// separated by commas; BENCH_SCALE=0.1 creates a tenth of the pods.
import type { Bench } from './bench.ts'
import { alone } from './scheduler/alone.ts'
import { shownRate } from './scheduler/rate.ts'
import { Served } from './scheduler/served.ts'
import { throughApi } from './scheduler/through-api.ts'
import { nodeCount, workloads, type Workload } from './scheduler/workloads.ts'

const scale = Number(process.env['BENCH_SCALE'] ?? 1)
const many = (count: number): number => Math.max(1, Math.round(count * scale))
const listed = (name: string) => process.env[name]?.split(',')

const parts: Readonly<Record<string, (chosen: readonly Workload[]) => AsyncGenerator<string>>> = {
  /** The scheduler alone, its decisions applied in memory: compared with upstream's thresholds. */
  async *alone(chosen) {
    for (const workload of chosen) {
      await alone(workload, 300)
      const rate = await alone(workload, many(workload.name === 'preemption' ? 1_000 : 2_000))
      yield `${workload.name}, ${nodeCount} nodes, scheduler alone: ${shownRate(rate, workload.floor)}`
    }
  },
  /**
   * Created, scheduled, bound and reported in one process over the direct transport: compared with upstream's
   * throughput.
   */
  async *direct(chosen) {
    for (const workload of chosen) {
      if (workload.reference === undefined) continue
      const rate = await throughApi(workload, many(3_000))
      yield `${workload.name}, ${nodeCount} nodes, through the API: ${shownRate(rate, workload.reference)}`
    }
  },
  /** A control plane in a separate process, reached over TLS by a load on the same machine. */
  async *served(chosen) {
    const compared = chosen.filter(({ reference }) => reference !== undefined)
    const [first] = compared
    if (first === undefined) return
    // Zones do not affect workloads without zone constraints.
    await using served = await Served.start(compared.find(({ nodeLabels }) => nodeLabels) ?? first, compared)
    yield `memory of the control plane at ${nodeCount} nodes: ${served.memory}`
    let count = 0
    for (const workload of compared) {
      await served.burst(workload, 'warm', many(warmUp))
      yield await rateOf(served, workload, many(5_000))
      count += many(warmUp) + many(5_000)
    }
    for (const [perSecond, pods] of [
      [50, many(500)],
      [1_000, many(20_000)],
    ] as const) {
      await served.untilQuiet()
      const tookMs = await served.steady(first, `at-${perSecond}`, perSecond, pods)
      count += pods
      const at = (share: number) => tookMs[Math.min(pods - 1, Math.floor(pods * share))]?.toFixed(0)
      yield `${first.name}: create → bound at ${perSecond} pods/s: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`
    }
    yield `memory at ${count} pods: ${served.memory}`
    await served.burst(first, 'filler', Math.max(0, many(podsHeld) - count))
    yield `memory at ${many(podsHeld)} pods: ${served.memory}`
    await served.rest()
    yield `the same after a rest: ${served.memory}`
  },
}

/** Pods before a workload is measured, so that V8 has compiled the hot code. */
const warmUp = 4_000
const podsHeld = 50_000

export const schedulerBench: Bench = {
  name: 'scheduler',
  async *run() {
    const chosen = workloads.filter(({ name }) => listed('BENCH_WORKLOADS')?.includes(name) ?? true)
    for (const [name, part] of Object.entries(parts))
      if (listed('BENCH_PARTS')?.includes(name) ?? true) yield* part(chosen)
  },
}

/** The rate of bound pods, and the rate including their events, which are written at low priority. */
async function rateOf(served: Served, workload: Workload, count: number): Promise<string> {
  const beginCpuMs = served.cpuMs
  const beginMs = await served.burst(workload, 'p', count)
  const perSecond = (count * 1000) / (performance.now() - beginMs)
  const eventsMs = await served.untilEventsWritten(workload)
  const perCpuSecond = (count * 1000) / (served.cpuMs - beginCpuMs)
  const withEvents = ((count * 1000) / (eventsMs - beginMs)).toFixed(0)
  return `${workload.name}, ${nodeCount} nodes, over TLS, SQLite store: ${shownRate({ perSecond, perCpuSecond }, workload.reference ?? 0)} of the server; ${withEvents} a second with their events`
}
