// podGroups: which pods of a target count for a metric. A pod that starts has an unusual CPU usage, so it counts only once
// it was ready for a whole measurement.
import { podCondition } from '../../api/core/v1/pod/pod-readiness.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import type { PodCondition } from '../../api/core/v1/pod/pod-status.ts'
import { isBeingDeleted } from '../../api/meta/object.ts'
import type { AutoscalerSettings } from '../runtime/controller-settings.ts'
import type { PodSample } from './metric-reading.ts'

export interface PodGroups {
  /** The usage of the pods that count. */
  readonly samples: ReadonlyMap<string, PodSample>
  /** How many pods have a usage that counts. */
  readonly readyCount: number
  readonly unready: readonly string[]
  /** Pods without a usage. */
  readonly missing: readonly string[]
}

type Periods = Pick<AutoscalerSettings, 'cpuInitializationMs' | 'initialReadinessDelayMs'>

export function podGroups(
  pods: readonly Pod[],
  samples: ReadonlyMap<string, PodSample>,
  resource: string,
  periods: Periods,
  nowMs: number,
): PodGroups {
  const counted = new Map(samples)
  const unready: string[] = []
  const missing: string[] = []
  let readyCount = 0
  for (const pod of pods) {
    const { name } = pod.metadata
    const sample = samples.get(name)
    if (isBeingDeleted(pod) || pod.status.phase === 'Failed') counted.delete(name)
    else if (pod.status.phase === 'Pending') {
      unready.push(name)
      counted.delete(name)
    } else if (sample === undefined) missing.push(name)
    else if (resource === 'cpu' && isStarting(pod, sample, periods, nowMs)) {
      unready.push(name)
      counted.delete(name)
    } else readyCount++
  }
  return { samples: counted, readyCount, unready, missing }
}

function isStarting(pod: Pod, sample: PodSample, periods: Periods, nowMs: number): boolean {
  const ready = podCondition(pod, 'Ready')
  const { startTime } = pod.status
  if (ready === undefined || startTime === undefined) return true
  const isUnready = ready.status === 'False'
  const startedMs = Date.parse(startTime)
  if (startedMs + periods.cpuInitializationMs > nowMs)
    return isUnready || sample.atMs < changedMs(ready) + sample.windowMs
  return isUnready && startedMs + periods.initialReadinessDelayMs > changedMs(ready)
}

const changedMs = ({ lastTransitionTime }: PodCondition): number => Date.parse(lastTransitionTime ?? '')
