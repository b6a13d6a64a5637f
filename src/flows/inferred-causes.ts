// What led to a call of a client that does not say so, such as an operator: the newest delivery to it, not long before, of
// the object itself or of one that the object is named after.
import { getOrInsert } from '../base/collections/get-or-insert.ts'
import type { FlowEvent, FlowId, FlowObject } from '../base/observability/flow-recorder.ts'

/** An operator that took longer has other reasons. */
const inferredWithinMs = 10_000
/** So many deliveries to a client are looked at. */
const deliveriesMax = 256

/** People's tools, and our own components, which say what led to a call if anything did. */
const needsNoInference = /^(kubectl|curl|client|Mozilla|controllers(-\d+)?$|controller\/|scheduler$|kubelet\/)/

export class CauseInference {
  readonly #deliveries = new Map<string, FlowEvent[]>()

  /** The delivery that led to it, as far as can be guessed. Events come in the order of the record. */
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
