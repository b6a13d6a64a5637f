// LinkFaults: what happens to packets between two hosts of the simulated network: delays and losses that a test has
// added. Without faults, packets arrive immediately.
import type { Random } from '../../base/random/random.ts'

/** A participant of the network. */
export interface NetworkHost {
  readonly address: string
  /** `<namespace>/<name>`; empty for nodes and hosts outside the cluster. */
  readonly pod: string
  /** The node itself, or the pod's node; empty outside the cluster. */
  readonly node: string
}

export interface LinkFault {
  /** Whether it applies to packets of this direction. */
  readonly matches: (from: NetworkHost, to: NetworkHost) => boolean
  readonly delayMs: number
  /** The share of packets that are lost, from 0 to 1. */
  readonly lossShare: number
}

/** A fault that can be removed. */
export interface RemovableFault extends Disposable {
  remove(): void
}

export class LinkFaults {
  readonly #faults = new Set<LinkFault>()

  add(fault: LinkFault): RemovableFault {
    this.#faults.add(fault)
    const remove = () => void this.#faults.delete(fault)
    return { remove, [Symbol.dispose]: remove }
  }

  clear(): void {
    this.#faults.clear()
  }

  /** The delay of a packet that is sent now, in milliseconds; undefined when it is lost. Delays add up. */
  packetDelayMs(from: NetworkHost, to: NetworkHost, random: Random): number | undefined {
    if (this.#faults.size === 0) return 0
    let delayMs = 0
    let isLost = false
    for (const fault of this.#faults) {
      if (!fault.matches(from, to)) continue
      delayMs += fault.delayMs
      // A number is drawn only for faults that leave it to chance, so other connections keep their sequence.
      isLost ||= fault.lossShare >= 1 || (fault.lossShare > 0 && random.fraction() < fault.lossShare)
    }
    return isLost ? undefined : delayMs
  }
}

/** Of connections within a machine. */
export const noFaults: Pick<LinkFaults, 'packetDelayMs'> = { packetDelayMs: () => 0 }
