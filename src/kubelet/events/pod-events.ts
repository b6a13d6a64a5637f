// Events of pods and their containers.
import type { Context } from '../../base/observability/context.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import type { EventRecorder } from '../../client/events/event-recorder.ts'

export interface PodEvent {
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
  /** The container that the event is about. */
  readonly container?: string
}

/** Records an event of a pod. */
export type RecordPodEvent = (pod: Pod, note: PodEvent, context: Context) => void

export const podEventRecorder =
  (events: EventRecorder): RecordPodEvent =>
  (pod, { type, reason, message, container }, context) => {
    const fieldPath = container === undefined ? undefined : fieldPathOf(pod, container)
    events.record(pod, { type, reason, message, ...(fieldPath === undefined ? {} : { fieldPath }) }, context)
  }

const containerLists = ['containers', 'initContainers', 'ephemeralContainers'] as const

function fieldPathOf({ spec }: Pod, container: string): string | undefined {
  for (const list of containerLists)
    for (const { name } of spec[list] ?? []) if (name === container) return `spec.${list}{${container}}`
  return undefined
}

/** A pod in messages: `web_default(0b3a…)`, as upstream formats it. */
export const formatPod = ({ metadata: { name, namespace = '', uid } }: Pod): string => `${name}_${namespace}(${uid})`
