// Trigger time: when the change happened that caused an update of endpoints, for measuring the propagation delay. It is
// the earliest of the changes that were not observed before.
import { podCondition } from '../../api/core/v1/pod/pod-readiness.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import type { Service } from '../../api/core/v1/service/service.ts'

export interface ObservedTimes {
  readonly service: string
  readonly pods: ReadonlyMap<string, string>
}

/** API timestamps are compared as text. */
export function triggerTime(
  object: Service,
  pods: readonly Pod[],
  seen: ObservedTimes | undefined,
): { readonly at: string | undefined; readonly seen: ObservedTimes } {
  const now = {
    service: object.metadata.creationTimestamp,
    pods: new Map(pods.map((pod) => [pod.metadata.name, podCondition(pod, 'Ready')?.lastTransitionTime ?? ''])),
  }
  const changed = [...now.pods].filter(([name, time]) => time > (seen?.pods.get(name) ?? '')).map(([, time]) => time)
  if (now.service > (seen?.service ?? '')) changed.push(now.service)
  return { at: changed.toSorted()[0], seen: now }
}
