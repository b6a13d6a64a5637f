// How long a reader and a node wait for their responses while another user has 500 requests in flight.
import { readFile } from 'node:fs/promises'
import { flooded } from '../test/api/flood.ts'
import { startUp } from '../test/process.ts'
import type { Bench } from './bench.ts'

const rounds = 100
const floodAtOnce = 500

async function latencies(call: () => Promise<{ readonly status: number }>): Promise<string> {
  const times: number[] = []
  for (let round = 0; round < rounds; round++) {
    const startMs = performance.now()
    const { status } = await call()
    if (status !== 200) throw new Error(`answered with ${status}`)
    times.push(performance.now() - startMs)
  }
  const sorted = times.toSorted((a, b) => a - b)
  const at = (part: number) => `${(sorted[Math.floor(part * (rounds - 1))] ?? 0).toFixed(1)} ms`
  return `p50 ${at(0.5)}, p99 ${at(0.99)}`
}

export const fairnessBench: Bench = {
  name: 'fairness',
  async *run() {
    await using up = await startUp('--runtime', 'none')
    await using server = await flooded(await readFile(up.kubeconfig, 'utf8'))
    await latencies(server.read)
    yield `a read, in a quiet server: ${await latencies(server.read)}`
    yield `a lease renewed, in a quiet server: ${await latencies(server.renew)}`
    const flood = server.flood(floodAtOnce)
    yield `a read, while another user keeps ${floodAtOnce} creates under way: ${await latencies(server.read)}`
    yield `a lease renewed, likewise: ${await latencies(server.renew)}`
    const answers = [...(await flood.stop())].map(([code, count]) => `${count} × ${code}`)
    yield `the flood was answered with ${answers.join(', ')}`
  },
}
