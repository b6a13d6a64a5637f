// recentEvents: what the first view of the page shows. After a roll-out, the newest thousands of events may all be background, so
// these are selected here: otherwise the page would read many pages of the record before it could draw anything.
import { append } from '../../base/collections/append.ts'
import { isBackground } from '../../base/observability/background-events.ts'
import type { FlowEvent, FlowRecorder } from '../../base/observability/flow-recorder.ts'

const batchEventsMax = 500
/** A user may see few of the events; the search ends after as many. */
const examinedEventsMax = 10_000

/** The newest visible events that are not background, the oldest first. */
export async function recentEvents(
  flow: FlowRecorder,
  count: number,
  visible: (events: readonly FlowEvent[]) => Promise<readonly FlowEvent[]>,
): Promise<FlowEvent[]> {
  const newestFirst: FlowEvent[] = []
  let before = flow.last + 1
  for (let examined = 0; newestFirst.length < count && examined < examinedEventsMax;) {
    const max = Math.min(count, batchEventsMax)
    const ids = flow.newest(max, before, (what, object) => !isBackground(what, object))
    append(newestFirst, await visible(ids.flatMap((id) => flow.get(id) ?? [])))
    if (ids.length < max) break
    examined += ids.length
    before = ids.at(-1) ?? 0
  }
  return newestFirst.slice(0, count).toReversed()
}
