// checkRounds: rounds of calls by concurrent clients through several API servers, while one fault after the other is injected
// and ended. The history of each round is checked.
import { deepEqual, ok } from 'node:assert/strict'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SeededRandom } from '../../src/base/random/random.ts'
import { until } from '../until.ts'
import { checkHistory } from './check-history.ts'
import { ConcurrentClients } from './concurrent-clients.ts'
import type { ServerCalls } from './server-calls.ts'
import { writeHistory } from './write-history.ts'

/** Injects a fault, and ends it. */
export type Fault = (random: SeededRandom) => Promise<void>

export interface RoundsOptions {
  readonly servers: readonly ServerCalls[]
  readonly seed: number
  readonly random: SeededRandom
  /** Injected in turns, one in each part of a round. */
  readonly faults: readonly Fault[]
  readonly clients: number
  readonly callsPerRound: number
  readonly partsPerRound: number
  /** Whether another round follows; called with the number of completed ones. */
  readonly continues: (rounds: number) => boolean
}

const keptIn = process.env['COXSWAIN_HISTORIES']

export async function checkRounds(options: RoundsOptions): Promise<void> {
  const { servers, seed, random, faults, clients, callsPerRound, partsPerRound, continues } = options
  const callsPerPart = callsPerRound / partsPerRound
  for (let round = 0; continues(round); round++) {
    const load = new ConcurrentClients({
      servers,
      namespace: `round-${round}`,
      random: random.fork(`clients ${round}`),
      clients,
      calls: callsPerRound,
    })
    const running = load.run()
    for (let part = 0; part < partsPerRound; part++) {
      load.allow((part + 1) * callsPerPart)
      const target = part * callsPerPart + random.below(callsPerPart / 2)
      // The clients never wait for longer than a fault lasts, or they have failed.
      await Promise.race([running, until(() => load.ended >= target)])
      await faults[(round * partsPerRound + part) % faults.length]?.(random)
    }
    const history = await running
    const violations = checkHistory(history)
    const folder = violations.length === 0 ? keptIn : (keptIn ?? (await mkdtemp(join(tmpdir(), 'coxswain-histories-'))))
    if (folder !== undefined) await writeHistory(folder, `round-${round}`, history)
    deepEqual(violations, [], `the history is in ${folder}; COXSWAIN_SEED=${seed} repeats the choices`)
    const known = history.calls.filter(({ output }) => output.kind !== 'unknown').length
    ok(known > callsPerRound / 4, `only ${known} calls had a result`)
    ok(history.lists.length > callsPerRound / 100, `only ${history.lists.length} lists had a result`)
  }
}
