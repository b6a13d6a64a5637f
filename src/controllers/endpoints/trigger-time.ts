// Trigger time: since when the endpoints should be as they are now; who measures how long changes take to arrive reads
// it. It is the earliest of the changes that have not been seen before.
import { podCondition } from '../../api/core/v1/pod/pod-readiness.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import type { Service } from '../../api/core/v1/service/service.ts'

export const triggerTimeAnnotation = 'endpoints.kubernetes.io/last-change-trigger-time'

export interface ObservedTimes {
  readonly service: string
  readonly pods: ReadonlyMap<string, string>
}

/** Times in the form of the API sort as text. */
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
