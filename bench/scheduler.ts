// Workloads of upstream's scheduler_perf at 5,000 nodes: the scheduler alone with its decisions applied in memory, and
// through the API server to the bound pod. BENCH_WORKLOADS names some of them, separated by commas.
import type { Bench } from './bench.ts'
import { alone } from './scheduler/alone.ts'
import { shownRate } from './scheduler/rate.ts'
import { Served } from './scheduler/served.ts'
import { throughApi } from './scheduler/through-api.ts'
import { nodeCount, workloads, type Workload } from './scheduler/workloads.ts'

const scale = Number(process.env['BENCH_SCALE'] ?? 1)
const many = (count: number): number => Math.max(1, Math.round(count * scale))
const named = process.env['BENCH_WORKLOADS']?.split(',')

export const schedulerBench: Bench = {
  name: 'scheduler',
  async *run() {
    const chosen = workloads.filter(({ name }) => named?.includes(name) ?? true)
    for (const workload of chosen) {
      await alone(workload, 300)
      const rate = await alone(workload, many(workload.name === 'preemption' ? 1_000 : 2_000))
      yield `${workload.name}, ${nodeCount} nodes, scheduler alone: ${shownRate(rate, workload.floor)}`
    }
    for (const workload of chosen)
      if (workload.reference !== undefined) {
        const rate = await throughApi(workload, many(3_000))
        yield `${workload.name}, ${nodeCount} nodes, through the API: ${shownRate(rate, workload.reference)}`
      }
    for (const workload of chosen) if (workload.reference !== undefined) yield* overTls(workload, workload.reference)
    const [basic] = chosen
    if (basic !== undefined) yield* steadily(basic)
  },
}

async function* overTls(workload: Workload, reference: number): AsyncGenerator<string> {
  await using served = await Served.start(workload)
  await served.burst('warm', many(500))
  const [beginMs, beginCpuMs, count] = [performance.now(), served.cpuMs, many(5_000)]
  await served.burst('p', count)
  const perSecond = (count * 1000) / (performance.now() - beginMs)
  const perCpuSecond = (count * 1000) / (served.cpuMs - beginCpuMs)
  yield `${workload.name}, ${nodeCount} nodes, over TLS, SQLite store: ${shownRate({ perSecond, perCpuSecond }, reference)} of the server`
}

async function* steadily(workload: Workload): AsyncGenerator<string> {
  await using served = await Served.start(workload)
  await served.burst('warm', many(500))
  const perSecond = Number(process.env['BENCH_RATE'] ?? 1_000)
  const tookMs = await served.steady('steady', perSecond, many(10_000))
  const at = (share: number) => tookMs[Math.min(tookMs.length - 1, Math.floor(tookMs.length * share))]?.toFixed(0)
  yield `${workload.name}: create → bound at ${perSecond} pods/s: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`
  const before = served.memoryMb
  const filler = many(50_000) - many(10_000) - many(500)
  await served.burst('filler', filler)
  yield `memory of the control plane at ${nodeCount} nodes and ${many(50_000)} pods: ${served.memoryMb.toFixed(0)} MB (${before.toFixed(0)} MB at ${many(10_500)})`
}
