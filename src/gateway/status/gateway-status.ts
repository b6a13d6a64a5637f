// The status of a Gateway and of its listeners. Pure.
import type { PortState } from '../../ingress/data-plane/frontends.ts'
import { areListenersServed, type GatewayVerdict } from '../attachment/evaluate-gateways.ts'
import { isServed, type ListenerVerdict } from '../attachment/listener-verdict.ts'
import { met, unmet, type Outcome } from '../attachment/outcome.ts'
import { gatewayGroup } from '../definitions/schema-parts.ts'
import type { Gateway, ListenerStatus } from '../kinds/gateway-kinds.ts'
import { mergeConditions, type Moment } from './merge-conditions.ts'
import { setAccepted } from './set-accepted.ts'

export interface GatewayStatusSources {
  /** The number of accepted routes. */
  attachedRoutes(listener: ListenerVerdict): number
  portState(place: string | undefined, port: number): PortState | undefined
  /** The time of changes. */
  readonly time: string
}

export function gatewayStatus(verdict: GatewayVerdict, sources: GatewayStatusSources): NonNullable<Gateway['status']> {
  const { gateway } = verdict
  const { time } = sources
  const moment = { generation: gateway.metadata.generation, time }
  const listeners = verdict.listeners.map((each) => outcomesOf(each, verdict, sources))
  const attachedSets = verdict.listenerSets.filter((each) => setAccepted(each, verdict).isMet).length
  const isProgrammed = listeners.some(({ programmed }) => programmed.isMet)
  const wanted = [
    { type: 'Accepted', outcome: acceptedOf(verdict, listeners) },
    { type: 'Programmed', outcome: programmedOf(verdict, isProgrammed) },
  ]
  return {
    ...(isProgrammed ? { addresses: verdict.assigned.map((value) => ({ type: 'IPAddress', value })) } : {}),
    conditions: mergeConditions(gateway.status?.conditions, wanted, moment),
    ...(attachedSets === 0 ? {} : { attachedListenerSets: attachedSets }),
    listeners: listenerStatuses(listeners, gateway.status?.listeners, sources, moment),
  }
}

export const listenerStatuses = (
  outcomes: readonly ListenerOutcomes[],
  before: readonly ListenerStatus[] = [],
  sources: GatewayStatusSources,
  moment: Moment,
): readonly ListenerStatus[] =>
  outcomes.map(({ listener, accepted, programmed }) => {
    const { name } = listener.listener
    const known = before.find((each) => each.name === name)
    const conditions = [
      { type: 'Accepted', outcome: accepted },
      { type: 'Conflicted', outcome: listener.conflicted },
      { type: 'Programmed', outcome: programmed },
      { type: 'ResolvedRefs', outcome: listener.resolvedRefs },
    ]
    return {
      name,
      supportedKinds: listener.supportedKinds.map((kind) => ({ group: gatewayGroup, kind })),
      attachedRoutes: sources.attachedRoutes(listener),
      conditions: mergeConditions(known?.conditions, conditions, moment),
    }
  })

export interface ListenerOutcomes {
  readonly listener: ListenerVerdict
  readonly accepted: Outcome
  readonly programmed: Outcome
}

export function outcomesOf(
  listener: ListenerVerdict,
  gateway: GatewayVerdict,
  { portState }: GatewayStatusSources,
): ListenerOutcomes {
  const { accepted } = listener
  const invalid = (message: string) => ({ listener, accepted, programmed: unmet('Invalid', message) })
  if (!areListenersServed(gateway)) return invalid('the Gateway is not served')
  if (!accepted.isMet) return invalid(accepted.message)
  if (!isServed(listener)) return invalid(listener.resolvedRefs.message)
  const { port } = listener.listener
  const { places } = gateway
  const states = (places.length === 0 ? [undefined] : places).map((place) => portState(place, port))
  const state = states.find((each) => each?.kind !== 'open')
  if (states.every((each) => each?.kind === 'open'))
    return { listener, accepted, programmed: met('Programmed', `port ${port} is open`) }
  const message = `port ${port} cannot be opened${state?.kind === 'failed' ? `: ${state.why}` : ''}`
  return { listener, accepted: unmet('PortUnavailable', message), programmed: unmet('Invalid', message) }
}

function acceptedOf({ accepted }: GatewayVerdict, listeners: readonly ListenerOutcomes[]): Outcome {
  if (!accepted.isMet) return accepted
  const invalid = listeners.filter((each) => !each.accepted.isMet)
  if (invalid.length === 0) return accepted
  const names = invalid.map(({ listener }) => listener.listener.name).join(', ')
  const message = `not valid: ${names}`
  return invalid.length === listeners.length ? unmet('ListenersNotValid', message) : met('ListenersNotValid', message)
}

function programmedOf({ accepted, addresses }: GatewayVerdict, isProgrammed: boolean): Outcome {
  if (!accepted.isMet) return unmet('Invalid', accepted.message)
  if (!addresses.isMet) return addresses
  return isProgrammed ? met('Programmed', 'the Gateway is served') : unmet('Invalid', 'no listener is served')
}
