// The hostile side of the flood, in a separate process: `attacker.ts <file>`, where the file contains the target and
// the options. Each connection alternates attacks and pauses until the time is over. The process prints the number of
// attacks. Attackers have computers of their own; here they have a lower priority instead, so that what is measured is how
// the server handles their requests, not how the kernel divides two cores between three processes.
import { readFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { attacks, type Target } from './attacks.ts'

export interface Orders {
  readonly target: Omit<Target, 'token'>
  readonly token: string
  /** Connections of each half, anonymous and authenticated. */
  readonly connections: number
  readonly seconds: number
  /** Pause between two attacks of one connection. */
  readonly restMs: number
  /** Of the process: 0 is that of the server. */
  readonly nice: number
}

const { target, token, connections, seconds, restMs, nice } = JSON.parse(
  readFileSync(process.argv[2] ?? '', 'utf8'),
) as Orders
const over = AbortSignal.timeout(seconds * 1000)
const list = Object.entries(attacks)
const made = new Map<string, number>()

async function attack(index: number, as: string): Promise<void> {
  await sleep((index / connections) * restMs, undefined, { signal: over }).catch(() => {})
  for (let round = index; !over.aborted; round++) {
    const [name, run] = list[round % list.length] ?? ['', async () => {}]
    await run({ ...target, token: as }, over)
    made.set(name, (made.get(name) ?? 0) + 1)
    await sleep(restMs, undefined, { signal: over }).catch(() => {})
  }
}

process.setMaxListeners(0)
setPriority(nice)
await Promise.all(Array.from({ length: connections }, (_, index) => [attack(index, ''), attack(index, token)]).flat())
console.log(JSON.stringify(Object.fromEntries(made)))
