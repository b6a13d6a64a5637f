// Infers the cause of calls by clients that name none, such as operators: the newest recent delivery to the client, of
// the same object or of one whose name is a prefix of the object's name.
import { getOrInsert } from '../base/collections/get-or-insert.ts'
import type { FlowEvent, FlowId, FlowObject } from '../base/observability/flow-recorder.ts'

/** An older delivery is not considered a cause. */
const inferredWithinMs = 10_000
/** Deliveries kept per client. */
const deliveriesMax = 256

/** Interactive clients, and our own components, which always name the cause of a call. */
const needsNoInference = /^(kubectl|curl|client|browser|controllers(-\d+)?$|controller\/|scheduler$|kubelet\/)/

export class CauseInference {
  readonly #deliveries = new Map<string, FlowEvent[]>()

  /** The inferred cause. Must be called with all events in order. */
  infer(event: FlowEvent): FlowId | undefined {
    const { arrow, from, to, object, cause, atMs } = event
    if (arrow === 'watch' && object?.name !== '') this.#addDelivery(to, event)
    if (arrow !== 'call' || object === undefined || needsNoInference.test(from)) return undefined
    if (cause.event !== 0 || cause.span !== undefined || cause.revisions.length > 0) return undefined
    const known = this.#deliveries.get(from) ?? []
    const reason = known.findLast((delivery) => atMs - delivery.atMs <= inferredWithinMs && concerns(delivery, object))
    return reason?.id
  }

  #addDelivery(receiver: string, delivery: FlowEvent): void {
    const known = getOrInsert(this.#deliveries, receiver, (): FlowEvent[] => [])
    known.push(delivery)
    if (known.length > 2 * deliveriesMax) known.splice(0, deliveriesMax)
  }
}

function concerns({ object: delivered }: FlowEvent, { namespace, name }: FlowObject): boolean {
  if (delivered === undefined || (delivered.namespace !== namespace && delivered.namespace !== '')) return false
  return name === delivered.name || name.startsWith(`${delivered.name}-`)
}
