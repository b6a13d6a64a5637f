// Workloads of upstream's scheduler_perf at 5,000 nodes. BENCH_PARTS names some of the parts, BENCH_WORKLOADS some of the
// workloads, separated by commas; BENCH_SCALE=0.1 has a tenth of the pods.
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
  /** The scheduler alone, its decisions applied in memory: against upstream's floors. */
  async *alone(chosen) {
    for (const workload of chosen) {
      await alone(workload, 300)
      const rate = await alone(workload, many(workload.name === 'preemption' ? 1_000 : 2_000))
      yield `${workload.name}, ${nodeCount} nodes, scheduler alone: ${shownRate(rate, workload.floor)}`
    }
  },
  /** Created, decided, bound and told in one process, over the direct transport: against what upstream binds. */
  async *direct(chosen) {
    for (const workload of chosen) {
      if (workload.reference === undefined) continue
      const rate = await throughApi(workload, many(3_000))
      yield `${workload.name}, ${nodeCount} nodes, through the API: ${shownRate(rate, workload.reference)}`
    }
  },
  /** As a user has it: the load in a process of its own, over TLS. */
  async *tls(chosen) {
    for (const workload of chosen)
      if (workload.reference !== undefined) yield await overTls(workload, workload.reference)
  },
  /** From the sending of a pod until a watcher sees it bound, at steady rates; then the memory of the control plane. */
  async *steady(chosen) {
    const [workload] = chosen
    if (workload === undefined) return
    await using served = await Served.start(workload)
    yield `memory of the control plane at ${nodeCount} nodes: ${served.memory}`
    let count = many(500)
    await served.burst('warm', count)
    for (const [perSecond, pods] of [
      [50, many(1_000)],
      [1_000, many(10_000)],
    ] as const) {
      const tookMs = await served.steady(`at-${perSecond}`, perSecond, pods)
      count += pods
      const at = (share: number) => tookMs[Math.min(pods - 1, Math.floor(pods * share))]?.toFixed(0)
      yield `${workload.name}: create → bound at ${perSecond} pods/s: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`
    }
    yield `memory at ${count} pods: ${served.memory}`
    await served.burst('filler', many(50_000) - count)
    yield `memory at ${many(50_000)} pods: ${served.memory}`
    await served.rest()
    yield `the same after a rest: ${served.memory}`
  },
}

export const schedulerBench: Bench = {
  name: 'scheduler',
  async *run() {
    const chosen = workloads.filter(({ name }) => listed('BENCH_WORKLOADS')?.includes(name) ?? true)
    for (const [name, part] of Object.entries(parts))
      if (listed('BENCH_PARTS')?.includes(name) ?? true) yield* part(chosen)
  },
}

async function overTls(workload: Workload, reference: number): Promise<string> {
  await using served = await Served.start(workload)
  await served.burst('warm', many(500))
  const [beginMs, beginCpuMs, count] = [performance.now(), served.cpuMs, many(5_000)]
  await served.burst('p', count)
  const perSecond = (count * 1000) / (performance.now() - beginMs)
  const perCpuSecond = (count * 1000) / (served.cpuMs - beginCpuMs)
  return `${workload.name}, ${nodeCount} nodes, over TLS, SQLite store: ${shownRate({ perSecond, perCpuSecond }, reference)} of the server`
}
