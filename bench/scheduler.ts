// Workloads of upstream's scheduler_perf at 5,000 nodes: the scheduler alone with its decisions applied in memory, and
// through the API server to the bound pod. BENCH_WORKLOADS names some of them, separated by commas.
import type { Bench } from './bench.ts'
import { alone } from './scheduler/alone.ts'
import { shownRate } from './scheduler/rate.ts'
import { throughApi } from './scheduler/through-api.ts'
import { nodeCount, workloads } from './scheduler/workloads.ts'

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
  },
}
