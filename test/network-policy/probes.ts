// Probes between pods: real connections, datagrams and SCTP packets, and what became of them.
import type { Agent } from '../proxy/network.harness.ts'
import type { Sctp } from './sctp-probes.ts'
import { addressOf, families, podNames, ports, type Family } from './world.ts'

export interface Probe {
  readonly from: string
  readonly to: string
  readonly port: number
  readonly protocol: 'TCP' | 'UDP' | 'SCTP'
  readonly family: Family
}

/** A probe that should be blocked ends after this time; one that should pass takes a millisecond, and has more time. */
const blockedMs = 120
const allowedMs = 5_000

export class Probes {
  readonly #agents: ReadonlyMap<string, Agent>
  readonly #sctp: Sctp

  constructor(agents: ReadonlyMap<string, Agent>, sctp: Sctp) {
    this.#agents = agents
    this.#sctp = sctp
  }

  /** The probes whose outcome is not the expected one, in words. */
  async differences(probes: readonly Probe[], isAllowed: (probe: Probe) => boolean): Promise<readonly string[]> {
    const outcomes = await Promise.all(
      probes.map(async (probe) => {
        const expected = isAllowed(probe)
        const passed = await this.passes(probe, expected ? allowedMs : blockedMs)
        const { from, to, port, protocol, family } = probe
        return passed === expected
          ? []
          : [`${from} to ${to}:${port} ${protocol} ${family} is ${passed ? 'open' : 'closed'}`]
      }),
    )
    return outcomes.flat()
  }

  async passes({ from, to, port, protocol, family }: Probe, waitMs: number): Promise<boolean> {
    const client = this.#agents.get(from)
    const server = this.#agents.get(to)
    const address = addressOf(to, family)
    if (client === undefined || server === undefined) throw new Error(`there is no pod ${from} or ${to}`)
    if (protocol === 'SCTP') return this.#sctp.arrives(client.pid, server.pid, address, port, waitMs)
    const outcome = await client.attempt({ protocol, address, port, waitMs })
    return outcome.startsWith(`${to} `)
  }
}

/** From every pod to every pod at every port, with each of the protocols and families. */
export const matrix = (protocols: readonly Probe['protocol'][] = ['TCP']): readonly Probe[] =>
  podNames.flatMap((from) =>
    podNames.flatMap((to) =>
      ports.flatMap((port) =>
        protocols.flatMap((protocol) => families.map((family) => ({ from, to, port, protocol, family }))),
      ),
    ),
  )
