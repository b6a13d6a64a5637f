// SimulatedConntrack tracks the flows that the test names, and records what is removed.
import type { Conntrack, UdpFlows } from './conntrack.ts'

export class SimulatedConntrack implements Conntrack {
  flows: UdpFlows[] = []
  readonly removed: UdpFlows[] = []

  udpFlows(): Promise<readonly UdpFlows[]> {
    return Promise.resolve(this.flows)
  }

  remove(flows: UdpFlows): Promise<void> {
    this.removed.push(flows)
    return Promise.resolve()
  }
}
