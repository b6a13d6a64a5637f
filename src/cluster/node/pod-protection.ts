// PodProtection: connects the kubelet, which starts pods, with the agent that enforces their network policies.
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { unlessAborted } from '../../base/async/unless-aborted.ts'
import type { PolicyAgent } from '../../network-policy/policy-agent.ts'

export class PodProtection {
  readonly #settled = Promise.withResolvers<void>()
  #agent: Pick<PolicyAgent, 'protect'> | undefined

  /** `isExpected` is whether an agent will be started: the network of pods is ours. */
  constructor(isExpected: boolean) {
    if (!isExpected) this.giveUp()
  }

  /** Called when the agent is started, and again when it is restarted. */
  use(agent: Pick<PolicyAgent, 'protect'>): void {
    this.#agent = agent
    this.#settled.resolve()
  }

  /** Another CNI plugin enforces policies. */
  giveUp(): void {
    this.#settled.resolve()
  }

  /** Resolves when the policies of the pod are enforced. A pod that starts before the agent waits for it. */
  async protect(pod: Pod, addresses: readonly string[], signal: AbortSignal): Promise<void> {
    await unlessAborted(this.#settled.promise, signal)
    await this.#agent?.protect(pod, addresses, signal)
  }
}
