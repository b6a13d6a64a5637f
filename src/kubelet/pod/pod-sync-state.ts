// What the kubelet remembers of a pod between two looks. Losing it costs a retry, nothing more.
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import type { Resize } from '../resources/resizer.ts'
import type { CrashBackoff } from './restart-policy.ts'

export interface Waiting {
  readonly reason: string
  readonly message: string
}

/** An attempt that failed: how often it has, and when it may be tried again. */
export interface Failure {
  readonly count: number
  readonly untilMs: number
  /** Why a container says it waits once the failure is no news any more. */
  readonly later?: Waiting & { readonly fromMs: number; readonly event: string }
}

/** The kubelet has ended the pod by itself: it took too long, or the node could not keep it. */
export interface PodTermination {
  readonly reason: string
  readonly message: string
  /** It was never taken: nothing of it has ever run. */
  readonly isRejection?: boolean
  /** What is left to its containers; what the pod itself says when left out. */
  readonly graceSeconds?: number
  /** Whether the node disrupts a pod that did nothing wrong by its own measure. */
  readonly isDisruption?: boolean
}

export interface PodSyncState {
  /** Why a container waits, where the runtime cannot know. */
  readonly waiting: Map<string, Waiting>
  /** What failed, by container; the sandbox under a name that no container has. */
  readonly failures: Map<string, Failure>
  readonly crashBackoffs: Map<string, CrashBackoff>
  /** Ids of containers that were ended only to be started again. */
  readonly restarting: Set<string>
  /** What ended containers left as their last words, by id. */
  readonly terminationMessages: Map<string, string>
  termination?: PodTermination
  /** Whether the node takes it has been decided. */
  isAdmitted: boolean
  /** What was told of it last, and when. */
  lastReported?: { readonly status: Pod['status']; readonly atMs: number; readonly version?: string }
  /** The pod as the API server answered when it was told last. */
  lastWritten?: Pod
  /** When it is told again, where somebody else has said something else. */
  reportInMs?: number | undefined
  /** What is being changed of its resources. */
  resize?: Resize | undefined
}

export const newPodSyncState = (): PodSyncState => ({
  waiting: new Map(),
  failures: new Map(),
  crashBackoffs: new Map(),
  restarting: new Set(),
  terminationMessages: new Map(),
  isAdmitted: false,
})
