// PodSyncState: what the kubelet keeps about a pod between two syncs. If it is lost, some actions are retried early and
// nothing else happens.
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import type { Resize } from '../resources/resizer.ts'
import type { CrashBackoff } from './restart-policy.ts'

export interface Waiting {
  readonly reason: string
  readonly message: string
}

/** A failed action: how often it has failed and when it is retried. */
export interface Failure {
  readonly count: number
  readonly untilMs: number
  /** The waiting reason that replaces the first one after a while, such as ImagePullBackOff. */
  readonly later?: Waiting & { readonly fromMs: number; readonly event: string }
}

/**
 * The kubelet terminates the pod itself: its deadline is exceeded, it was evicted or rejected, or the node shuts down.
 */
export interface PodTermination {
  readonly reason: string
  readonly message: string
  /** The pod was not admitted; nothing of it has run. */
  readonly isRejection?: boolean
  /** Overrides the grace period of the pod. */
  readonly graceSeconds?: number
  /** Whether the pod gets a DisruptionTarget condition. */
  readonly isDisruption?: boolean
}

export interface PodSyncState {
  /** Waiting reasons that the runtime does not know, by container. */
  readonly waiting: Map<string, Waiting>
  /** Failures by container name, and of the sandbox. */
  readonly failures: Map<string, Failure>
  readonly crashBackoffs: Map<string, CrashBackoff>
  /** Ids of containers that were stopped to be restarted. */
  readonly restarting: Set<string>
  /** Termination messages by container id. */
  readonly terminationMessages: Map<string, string>
  /** Ids of ended containers that the metrics have counted; undefined before the first one. */
  countedIds?: ReadonlySet<string> | undefined
  termination?: PodTermination
  /** Whether the admission check is done. */
  isAdmitted: boolean
  /** The status that was written last, and when. */
  lastReported?: { readonly status: Pod['status']; readonly atMs: number; readonly version?: string }
  /** The pod in the response to the last status update. */
  lastWritten?: Pod
  /** Time until the status is written again after another client has changed it. */
  reportInMs?: number | undefined
  /** The current resize. */
  resize?: Resize | undefined
}

/** The name of sandbox failures, which no container can have. */
export const sandboxFailure = ''

const newPodSyncState = (): PodSyncState => ({
  waiting: new Map(),
  failures: new Map(),
  crashBackoffs: new Map(),
  restarting: new Set(),
  terminationMessages: new Map(),
  isAdmitted: false,
})

/** The states of the pods of a node, by uid. */
export class PodSyncStates {
  readonly #states = new Map<string, PodSyncState>()

  /** Creates the state of a pod that has none. */
  of(uid: string): PodSyncState {
    return getOrInsert(this.#states, uid, newPodSyncState)
  }

  delete(uid: string): void {
    this.#states.delete(uid)
  }

  /** Terminates the pod as failed with its next sync; the first reason counts. */
  terminate(uid: string, termination: PodTermination): void {
    this.of(uid).termination ??= termination
  }

  isAdmitted(uid: string): boolean {
    const state = this.#states.get(uid)
    return state !== undefined && state.isAdmitted && !state.termination?.isRejection
  }

  /** Whether the version of the pod is the result of its last status update. */
  hasReported(uid: string, resourceVersion: string): boolean {
    const version = this.#states.get(uid)?.lastReported?.version
    return version !== undefined && version === resourceVersion
  }
}
