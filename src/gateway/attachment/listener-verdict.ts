// ListenerVerdict: whether a listener is served, and if not, why.
import type { Gateway } from '../kinds/gateway-kinds.ts'
import type { EvaluatedListener, ListenerOwner, Scheme } from './evaluate-listener.ts'
import type { Outcome } from './outcome.ts'

export interface ListenerVerdict extends EvaluatedListener {
  readonly gateway: Gateway
  /** The object whose listener it is: the Gateway, or one of its ListenerSets. */
  readonly owner: ListenerOwner
  /** Those of the Gateway; empty if the proxy does not know its addresses. */
  readonly places: readonly string[]
  /** Met if the listener conflicts with others of its Gateway. */
  readonly conflicted: Outcome
}

/** A listener that is open if its port can be opened. */
export type ServedListener = ListenerVerdict & { readonly scheme: Scheme }

export const isServed = (verdict: ListenerVerdict): verdict is ServedListener =>
  verdict.accepted.isMet && verdict.scheme !== undefined && (!verdict.isDecrypted || verdict.certificate !== undefined)
