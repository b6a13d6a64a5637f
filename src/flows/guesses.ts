// What led to a call of a client that does not say so, such as an operator: the newest delivery to it, not long before, of
// the object itself or of one that the object is named after.
import { getOrMake } from '../base/get-or-make.ts'
import type { FlowEvent, FlowId, FlowObject } from '../base/flow.ts'

/** An operator that took longer has other reasons. */
const guessedWithinMs = 10_000
/** So many deliveries to a client are looked at. */
const rememberedMax = 256

/** People's tools, and our own components, which say what led to a call if anything did. */
const needNoGuess = /^(kubectl|curl|client|Mozilla|controllers(-\d+)?$|controller\/|scheduler$|kubelet\/)/

export class Guesses {
  readonly #deliveries = new Map<string, FlowEvent[]>()

  /** The delivery that led to it, as far as can be guessed. Events come in the order of the record. */
  look(event: FlowEvent): FlowId | undefined {
    const { arrow, from, to, object, cause, atMs } = event
    if (arrow === 'watch' && object?.name !== '') this.#remember(to, event)
    if (arrow !== 'call' || object === undefined || needNoGuess.test(from)) return undefined
    if (cause.event !== 0 || cause.span !== undefined || cause.revisions.length > 0) return undefined
    const known = this.#deliveries.get(from) ?? []
    const reason = known.findLast((delivery) => atMs - delivery.atMs <= guessedWithinMs && concerns(delivery, object))
    return reason?.id
  }

  #remember(receiver: string, delivery: FlowEvent): void {
    const known = getOrMake(this.#deliveries, receiver, (): FlowEvent[] => [])
    known.push(delivery)
    if (known.length > 2 * rememberedMax) known.splice(0, rememberedMax)
  }
}

function concerns({ object: delivered }: FlowEvent, { namespace, name }: FlowObject): boolean {
  if (delivered === undefined || (delivered.namespace !== namespace && delivered.namespace !== '')) return false
  return name === delivered.name || name.startsWith(`${delivered.name}-`)
}
