// SimulatedConntrack records what is removed.
import type { Conntrack, UdpFlows } from './conntrack.ts'

export class SimulatedConntrack implements Conntrack {
  readonly removed: UdpFlows[] = []

  remove(flows: UdpFlows): Promise<void> {
    this.removed.push(flows)
    return Promise.resolve()
  }
}
