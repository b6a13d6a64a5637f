// Cost of flow recording, as a share of the API's throughput: two servers with real ports, one of which records
// nothing, under load alternately. Processor time is more reliable than elapsed time on a shared machine.
import { startUp, type RunningUp } from '../test/process.ts'
import { accessOf } from '../test/access.ts'
import { requestText } from './api/connection.ts'
import { load } from './api/load.ts'
import { processorMs } from './api/process-usage.ts'
import type { Bench } from './bench.ts'

const maps = '/api/v1/namespaces/default/configmaps'
const connections = 64
/** Many short turns, so that other load on the machine affects both equally. */
const rounds = 24
/** Rounds in which V8 still compiles. */
const warmRounds = 6

/** Sends the requests of a turn; returns the server's processor time for them. */
async function costMs({ pid, kubeconfig }: RunningUp, count: number, requestOf: (index: number) => Buffer) {
  const before = processorMs(pid)
  await load(accessOf(kubeconfig), connections, count, requestOf)
  return processorMs(pid) - before
}

/** The processor time of all turns with and without recording; the order alternates. */
async function compared(
  what: string,
  [recording, silent]: readonly [RunningUp, RunningUp],
  count: number,
  requestOf: (round: number) => (index: number) => Buffer,
): Promise<string> {
  let on = 0
  let off = 0
  for (let round = 0; round < rounds; round++) {
    const costs = new Map<RunningUp, number>()
    for (const up of round % 2 === 0 ? [recording, silent] : [silent, recording])
      costs.set(up, await costMs(up, count, requestOf(round)))
    if (round < warmRounds) continue
    on += costs.get(recording) ?? 0
    off += costs.get(silent) ?? 0
  }
  const each = (ms: number) => ((ms * 1000) / (count * (rounds - warmRounds))).toFixed(0)
  return `recording flows adds ${((on / off - 1) * 100).toFixed(1)} % to ${what} over TLS: ${each(on)} µs instead of ${each(off)} µs of the server's processor time each`
}

export const flowCostBench: Bench = {
  name: 'flow-cost',
  async *run() {
    await using recording = await startUp('--nodes', '0', '--store', 'memory')
    await using silent = await startUp('--nodes', '0', '--store', 'memory', '--flow-events', '0')
    const both = [recording, silent] as const
    yield await compared(
      'creates of ConfigMaps',
      both,
      2_000,
      (round) => (index) => requestText('POST', maps, { metadata: { name: `m-${round}-${index}` }, data: { a: 'b' } }),
    )
    const get = requestText('GET', `${maps}/m-0-0`)
    yield await compared('gets', both, 4_000, () => () => get)
  },
}
