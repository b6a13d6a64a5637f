// eventsAbout: the recorded events whose object is this one, the oldest first. Other events are not constructed: the record has
// tens of thousands of them.
import type { FlowEvent, FlowObject, FlowRecorder } from '../../base/observability/flow-recorder.ts'

const eventsMax = 5_000

export function eventsAbout({ resource, namespace, name }: FlowObject, flow: FlowRecorder): FlowEvent[] {
  const ids = flow.newest(
    eventsMax,
    flow.last + 1,
    (_, object) => object?.name === name && object.resource === resource && object.namespace === namespace,
  )
  return ids.toReversed().flatMap((id) => flow.get(id) ?? [])
}
