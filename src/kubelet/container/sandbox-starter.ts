// SandboxStarter: provides what a pod needs on the node, mounts its volumes and starts its sandbox. Failures are recorded
// as events that equal upstream's, and retried with a backoff.
import type { Clock } from '../../base/time/clock.ts'
import type { Context } from '../../base/observability/context.ts'
import { backoffMs, type Backoff } from '../../base/work/work-queue.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import type { ContainerRuntime } from '../../machine/runtime/container-runtime.ts'
import type { RecordPodEvent } from '../events/pod-events.ts'
import type { RecordCall } from '../events/record-call.ts'
import { sandboxFailure, type PodSyncState } from '../pod/pod-sync-state.ts'
import { AttachmentLimitExceeded, AttachmentPending, VolumeError } from '../volumes/contract/volume-type.ts'
import type { PodProvisioner } from './pod-provisioner.ts'

/** Resolves when the policies of a pod with these addresses are enforced. */
export type ProtectPod = (pod: Pod, addresses: readonly string[], signal: AbortSignal) => Promise<void>

export interface SandboxStarterDeps {
  readonly runtime: Pick<ContainerRuntime, 'inspect' | 'runSandbox'>
  readonly provisioner: PodProvisioner
  /** Why the pod network is not ready; undefined when it is. */
  readonly networkProblem: () => string | undefined
  /** Undefined where network policies are not enforced. */
  readonly protectPod: ProtectPod | undefined
  readonly recordEvent: RecordPodEvent
  readonly call: RecordCall
  readonly clock: Clock
}

const sandboxBackoff: Backoff = { initialMs: 500, maxMs: 122_000 }

class NetworkNotReady extends Error {
  override name = 'NetworkNotReady'
}

export class SandboxStarter {
  readonly #deps: SandboxStarterDeps

  constructor(deps: SandboxStarterDeps) {
    this.#deps = deps
  }

  /** Volumes are mounted first: a pod whose volumes are not available gets no sandbox. */
  async start(pod: Pod, state: PodSyncState, context: Context): Promise<void> {
    const { runtime, provisioner, clock, recordEvent, call, networkProblem } = this.#deps
    try {
      const problem = pod.spec.hostNetwork === true ? undefined : networkProblem()
      if (problem !== undefined) throw new NetworkNotReady(`network is not ready: ${problem}`)
      await provisioner.prepare(pod)
      await provisioner.mountVolumes(pod, new Map(), context)
      const config = await provisioner.sandbox(pod, 0, context)
      for (const message of provisioner.dnsWarnings(pod))
        recordEvent(pod, { type: 'Warning', reason: 'DNSConfigForming', message }, context)
      await call('run sandbox', pod, context, () => runtime.runSandbox(config, context.signal))
      await this.#protect(pod, context)
      state.failures.delete(sandboxFailure)
    } catch (error) {
      if (context.signal.aborted || !(error instanceof Error)) throw error
      const count = (state.failures.get(sandboxFailure)?.count ?? 0) + 1
      state.failures.set(sandboxFailure, { count, untilMs: clock.nowMs() + backoffMs(sandboxBackoff, count - 1) })
      if (error instanceof AttachmentLimitExceeded)
        state.termination ??= { reason: error.reason, message: error.message, isRejection: true }
      if (error instanceof AttachmentPending) return
      recordEvent(pod, { type: 'Warning', ...failureEvent(error) }, context)
    }
  }

  /** The sandbox has its addresses. It is closed until the rules of its policies are in place. */
  async #protect(pod: Pod, { signal }: Context): Promise<void> {
    const { protectPod, runtime } = this.#deps
    if (protectPod === undefined || pod.spec.hostNetwork === true) return
    const running = await runtime.inspect(pod.metadata.uid, signal)
    await protectPod(pod, running?.ips ?? [], signal)
  }
}

const failureEvent = (error: Error): { readonly reason: string; readonly message: string } => {
  const { message } = error
  if (error instanceof VolumeError) return { reason: error.reason, message }
  if (error instanceof NetworkNotReady) return { reason: 'NetworkNotReady', message }
  return { reason: 'FailedCreatePodSandBox', message: `Failed to create pod sandbox: ${message}` }
}
