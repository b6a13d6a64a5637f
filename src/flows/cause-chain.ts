// The chain of an event: all events that led to it, and all that followed from it.
import { getOrInsert } from '../base/collections/get-or-insert.ts'
import type { FlowEvent, FlowId } from '../base/observability/flow-recorder.ts'
import { CauseIndex } from './flow-graph.ts'

/** Events of a chain at most; a write of the beginning may have led to nearly everything. */
const chainEventsMax = 5_000

/** The ids of the chain, with that of the event itself. */
export function causeChain(events: Iterable<FlowEvent>, id: FlowId): ReadonlySet<FlowId> {
  const all = [...events]
  const index = new CauseIndex()
  for (const event of all) index.add(event)
  const causes = new Map<FlowId, readonly FlowId[]>()
  const effects = new Map<FlowId, FlowId[]>()
  for (const event of all) {
    const own = [index.causeOf(event), ...event.cause.also].filter((cause) => cause !== 0 && cause !== event.id)
    causes.set(event.id, own)
    for (const cause of own) getOrInsert(effects, cause, (): FlowId[] => []).push(event.id)
  }
  return new Set([...reached(id, causes), ...reached(id, effects)])
}

function reached(id: FlowId, next: ReadonlyMap<FlowId, readonly FlowId[]>): ReadonlySet<FlowId> {
  const found = new Set([id])
  for (const each of found) for (const other of next.get(each) ?? []) if (found.size < chainEventsMax) found.add(other)
  return found
}
