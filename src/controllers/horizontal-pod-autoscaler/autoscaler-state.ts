// The state of a run of the autoscaler's controller, and its settings.
import type { ObjectKey } from '../../api/meta/object.ts'
import type { EventNote } from '../../client/events/event-recorder.ts'
import type { ReconcileTools } from '../runtime/controller.ts'
import type { AutoscalerSettings } from '../runtime/controller-settings.ts'
import type { AutoscaledPods } from './autoscaled-pods.ts'
import type { MetricsClient } from './metrics-client.ts'
import type { ScaleTargets } from './scale-targets.ts'
import type { AutoscalerMemory } from './scaling-rules.ts'

export const autoscalerDefaults: AutoscalerSettings = {
  syncMs: 15_000,
  downscaleStabilizationMs: 300_000,
  cpuInitializationMs: 300_000,
  initialReadinessDelayMs: 30_000,
  tolerance: 0.1,
}

/** What a run of the controller knows besides the objects. It is not persisted. */
export interface AutoscalerState {
  readonly targets: ScaleTargets
  readonly autoscaledPods: AutoscaledPods
  readonly memories: Map<ObjectKey, AutoscalerMemory>
  metrics: MetricsClient | undefined
}

export type Tools = ReconcileTools<AutoscalerState>

export const settingsOf = ({ settings }: Tools): AutoscalerSettings =>
  settings.horizontalPodAutoscaler ?? autoscalerDefaults

export const warning = (reason: string, message: string): EventNote => ({ type: 'Warning', reason, message })
