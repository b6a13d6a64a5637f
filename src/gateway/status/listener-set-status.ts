// The status of a ListenerSet and of its listeners. Pure.
import type { GatewayVerdict, ListenerSetVerdict } from '../attachment/evaluate-gateways.ts'
import { met, unmet, type Outcome } from '../attachment/outcome.ts'
import type { ListenerSet } from '../kinds/gateway-kinds.ts'
import { listenerStatuses, outcomesOf, type ListenerOutcomes, type GatewayStatusSources } from './gateway-status.ts'
import { mergeConditions } from './merge-conditions.ts'
import { setAccepted } from './set-accepted.ts'

export function listenerSetStatus(
  verdict: ListenerSetVerdict,
  gateway: GatewayVerdict,
  sources: GatewayStatusSources,
): NonNullable<ListenerSet['status']> {
  const { listenerSet, listeners } = verdict
  const moment = { generation: listenerSet.metadata.generation, time: sources.time }
  const outcomes = listeners.map((each) => withConflictReason(outcomesOf(each, gateway, sources)))
  const accepted = setAccepted(verdict, gateway)
  const wanted = [
    { type: 'Accepted', outcome: accepted },
    { type: 'Programmed', outcome: programmedOf(accepted, outcomes) },
  ]
  return {
    conditions: mergeConditions(listenerSet.status?.conditions, wanted, moment),
    listeners: listenerStatuses(outcomes, listenerSet.status?.listeners, sources, moment),
  }
}

/** A listener of a ListenerSet that conflicts with others is not programmed for that reason. */
const withConflictReason = (outcomes: ListenerOutcomes): ListenerOutcomes => {
  const { isMet, reason, message } = outcomes.listener.conflicted
  return isMet ? { ...outcomes, programmed: unmet(reason, message) } : outcomes
}

function programmedOf(accepted: Outcome, listeners: readonly ListenerOutcomes[]): Outcome {
  if (accepted.reason === 'ParentNotAccepted') return unmet('ParentNotProgrammed', accepted.message)
  if (!accepted.isMet) return accepted
  return listeners.some(({ programmed }) => programmed.isMet)
    ? met('Programmed', 'the ListenerSet is served')
    : unmet('Invalid', 'no listener is served')
}
