// PodActionExecutor: executes the planned actions of a pod with the runtime and the API server.
import type { Clock } from '../../base/time/clock.ts'
import type { Context } from '../../base/observability/context.ts'
import { pod as podKind, type Pod } from '../../api/core/v1/pod/pod.ts'
import { namespaceOf } from '../../api/meta/object.ts'
import { hasReason } from '../../api/errors/status-error.ts'
import type { Client } from '../../client/client.ts'
import type { ContainerRuntime, RuntimePod } from '../../machine/runtime/container-runtime.ts'
import { ContainerStarter, type ContainerStarterDeps } from '../container/container-starter.ts'
import { ContainerStopper } from '../container/container-stopper.ts'
import { SandboxStarter, type SandboxStarterDeps } from '../container/sandbox-starter.ts'
import type { PodAction } from '../pod/pod-actions.ts'
import type { PodSyncState } from '../pod/pod-sync-state.ts'
import { crashBackoffOf, nextCrashBackoff } from '../pod/restart-policy.ts'
import type { StaticPods } from '../sources/static-pods.ts'

export interface PodActionExecutorDeps extends ContainerStarterDeps, SandboxStarterDeps {
  readonly client: Client
  readonly runtime: ContainerRuntime
  /** Undefined when the node has no static pods. */
  readonly staticPods: StaticPods | undefined
  readonly clock: Clock
}

/** A pod as the actions were planned for it. */
export interface PodTarget {
  readonly uid: string
  /** Undefined when it should no longer exist. */
  readonly pod: Pod | undefined
  readonly running: RuntimePod | undefined
  readonly state: PodSyncState
}

const sandboxChanged = {
  type: 'Normal',
  reason: 'SandboxChanged',
  message: 'Pod sandbox changed, it will be killed and re-created.',
} as const

export class PodActionExecutor {
  readonly #deps: PodActionExecutorDeps
  readonly #sandboxes: SandboxStarter
  readonly #starter: ContainerStarter
  readonly #stopper: ContainerStopper

  constructor(deps: PodActionExecutorDeps) {
    this.#deps = deps
    this.#sandboxes = new SandboxStarter(deps)
    this.#starter = new ContainerStarter(deps)
    this.#stopper = new ContainerStopper(deps)
  }

  async execute(action: PodAction, { uid, pod, running, state }: PodTarget, context: Context): Promise<void> {
    const { runtime, provisioner, recordEvent, call } = this.#deps
    const { signal } = context
    switch (action.kind) {
      case 'run-sandbox':
        return pod === undefined ? undefined : this.#sandboxes.start(pod, state, context)
      case 'start-container':
        if (pod === undefined || running === undefined) return
        this.#countCrash(action, state)
        return this.#starter.start(pod, action, running, state, context)
      case 'stop-containers':
        return running === undefined ? undefined : this.#stopper.stop(pod, running, action.stops, context)
      case 'remove-container':
        await call(`remove container ${action.container.name}`, pod, context, () =>
          runtime.removeContainer(action.container.id, signal),
        )
        return provisioner.removeContainerFiles(uid, action.container)
      case 'stop-sandbox':
        await call('stop sandbox', pod, context, () => runtime.stopSandbox(action.sandboxId, signal))
        return provisioner.releaseResources(uid, context)
      case 'remove-sandbox':
        if (action.isLost === true && pod !== undefined) recordEvent(pod, sandboxChanged, context)
        return call('remove sandbox', pod, context, () => runtime.removeSandbox(action.sandboxId, signal))
      case 'release-pod':
        // Also for a pod that never had a sandbox, because its volumes may be mounted.
        await provisioner.removePodData(uid, context)
        return pod === undefined ? undefined : this.#release(pod, context)
      case 'wait':
        return
      default:
        return action satisfies never
    }
  }

  #countCrash({ container, finishedMs }: Extract<PodAction, { kind: 'start-container' }>, state: PodSyncState): void {
    const { crashBackoffs } = state
    if (finishedMs === undefined) return
    const before = crashBackoffOf(crashBackoffs, container)
    crashBackoffs.set(container.name, nextCrashBackoff(before, container, finishedMs, this.#deps.clock.nowMs()))
  }

  /** Deletes the API object of a terminated pod. */
  async #release(pod: Pod, context: Context): Promise<void> {
    const { name, uid } = pod.metadata
    const { staticPods, client } = this.#deps
    if (staticPods?.has(uid)) return staticPods.release(pod, context)
    try {
      await client.of(podKind).delete(name, namespaceOf(pod), { gracePeriodSeconds: 0, uid }, context)
    } catch (error) {
      if (!hasReason(error, 'NotFound') && !hasReason(error, 'Conflict')) throw error
    }
  }
}
