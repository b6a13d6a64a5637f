// The scenarios of the recorded decisions: an autoscaler with its target, its pods and what the metrics APIs report.
import type { HorizontalPodAutoscalerSpec } from '../../src/api/autoscaling/v2/autoscaler-spec.ts'

/** The default. */
export const syncSeconds = 15
/** The controller that was recorded and the one that is compared have this setting: the default takes five minutes. */
export const downscaleStabilizationSeconds = 36

export type Amounts = Readonly<Record<string, string>>

export interface PodState {
  /** `web-<index>` unless it is given. */
  readonly name?: string
  readonly labels?: Amounts
  readonly phase?: 'Pending' | 'Running' | 'Succeeded' | 'Failed'
  /** Ready by default; null for a pod without the condition. */
  readonly ready?: boolean | null
  /** When the pod started and its readiness changed, in seconds before the scenario; null for a pod without start time. */
  readonly startedAgo?: number | null
  readonly changedAgo?: number
  /** The requests of its containers by name; one container `c` that requests 100m and 100Mi unless they are given. */
  readonly containers?: Readonly<Record<string, Amounts>>
  readonly sidecars?: Readonly<Record<string, Amounts>>
  /** Requests of the pod as a whole. */
  readonly requests?: Amounts
  readonly deleting?: boolean
}

export interface ExternalValue {
  readonly value: string
  readonly labels?: Amounts
}

/** What the metrics APIs report. */
export interface Measures {
  /** The usage of each pod's only container, in the order of the pods; null is a pod without metrics. */
  readonly cpu?: readonly (string | null)[]
  readonly memory?: readonly (string | null)[]
  /** The usage of pods with several containers: by pod, container and resource. */
  readonly containers?: Readonly<Record<string, Readonly<Record<string, Amounts>>>>
  /** When the usage was measured, in seconds after the start of the scenario. */
  readonly at?: number
  readonly window?: string
  /** Custom metrics of the pods, by name. */
  readonly pods?: Readonly<Record<string, readonly (string | null)[]>>
  /** Custom metrics of objects: `services/web/requests`, `namespace/requests`. */
  readonly objects?: Amounts
  readonly external?: Readonly<Record<string, readonly ExternalValue[]>>
  /** Status codes of the APIs that fail. */
  readonly failing?: Readonly<Partial<Record<'resource' | 'custom' | 'external', number>>>
}

export interface Step {
  /** Replaces what the metrics APIs report. */
  readonly measures?: Measures
  readonly replicas?: number
  readonly statusReplicas?: number
  /** Creates or changes these pods. */
  readonly pods?: readonly PodState[]
  /** Changes the spec of the autoscaler. */
  readonly spec?: Partial<HorizontalPodAutoscalerSpec>
}

export interface Target {
  readonly kind?: 'Deployment' | 'ReplicaSet' | 'ReplicationController' | 'StatefulSet' | 'Widget'
  readonly replicas?: number
  /** As many as desired unless it is given. */
  readonly statusReplicas?: number
  /** Of a Widget, whose scale has the selector of its status. */
  readonly selector?: string
}

export interface Scenario {
  readonly name: string
  /** 'none': the target does not exist. */
  readonly target?: Target | 'none'
  readonly spec?: Partial<HorizontalPodAutoscalerSpec>
  readonly pods?: readonly PodState[]
  readonly measures?: Measures
  /** Further autoscalers of the same target. */
  readonly rivals?: readonly string[]
  /** What changes before each further decision; the first one is made without changes. */
  readonly next?: readonly Step[]
}

/** One decision, as a line of the table. */
export interface Decision {
  readonly scenario: string
  readonly step: number
  /** Replicas of the target after the decision. */
  readonly replicas: number | undefined
  /** Times are numbers of sync periods since the autoscaler was created. */
  readonly status: unknown
  /** `count type reason component: message`, of all events of the scenario; only in its last decision. */
  readonly events?: readonly string[]
}
