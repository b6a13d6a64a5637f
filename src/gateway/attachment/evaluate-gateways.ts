// Decides which listeners of all Gateways are served: conflicts within a Gateway, and ports that other Gateways or Ingresses
// have. Of two Gateways that need the same port of an address, the older gets it. Pure.
import type { Slice, Sliced } from '../../base/work/work-slice.ts'
import { keyOf, namespaceOf, type ObjectKey } from '../../api/meta/object.ts'
import type { Labels } from '../../api/selectors/selectors.ts'
import type { Gateway, ListenerSet } from '../kinds/gateway-kinds.ts'
import { allowsListenerSets } from './allowed-namespaces.ts'
import { assignAddresses, type AssignedAddresses } from './assigned-addresses.ts'
import { evaluateListener, type ListenerSources, type Scheme } from './evaluate-listener.ts'
import { conflictAmong, HeldPorts } from './listener-conflicts.ts'
import { met, unmet, type Outcome } from './outcome.ts'
import { PortClaims } from './port-claims.ts'
import type { ListenerVerdict } from './listener-verdict.ts'
import type { OnUnservable } from './unservable.ts'
import { olderFirst } from '../../ingress/routing/older-first.ts'

export interface GatewayVerdict {
  readonly gateway: Gateway
  /** Whether the Gateway is accepted, apart from its listeners. */
  readonly accepted: Outcome
  /** Whether the requested addresses are those of the proxy. */
  readonly addresses: Outcome
  /** Its addresses, and where its ports are. */
  readonly assigned: readonly string[]
  readonly places: readonly string[]
  /** Its own. */
  readonly listeners: readonly ListenerVerdict[]
  /** In the order of their age. */
  readonly listenerSets: readonly ListenerSetVerdict[]
}

export interface ListenerSetVerdict {
  readonly listenerSet: ListenerSet
  /** Whether it is attached, apart from its listeners. */
  readonly attached: Outcome
  readonly listeners: readonly ListenerVerdict[]
}

/** Those of a Gateway and of its ListenerSets. */
export const allListeners = ({ listeners, listenerSets }: GatewayVerdict): readonly ListenerVerdict[] => [
  ...listeners,
  ...listenerSets.flatMap((each) => each.listeners),
]

export interface GatewaySources extends ListenerSources {
  /** The addresses of the proxy. The first is that of Ingresses, too. */
  readonly addresses: readonly string[]
  /** The addresses of load balancers, if Gateways have such. */
  readonly balanced?: (gateways: readonly Gateway[]) => ReadonlyMap<Gateway, AssignedAddresses>
  /** By the keys of their Gateways, in the order of their age. */
  readonly listenerSets: ReadonlyMap<ObjectKey, readonly ListenerSet[]>
  namespaceLabels(name: string): Labels | undefined
  /** The ports of Ingresses. */
  readonly otherPorts: ReadonlyMap<number, Scheme>
}

export const areListenersServed = ({ accepted, addresses }: GatewayVerdict): boolean =>
  accepted.isMet && addresses.isMet

/** In the order of their age. A Gateway that cannot be read is not accepted, and does not affect others. */
export function* evaluateGateways(
  gateways: readonly Gateway[],
  sources: GatewaySources,
  onUnservable: OnUnservable,
  slice: Slice,
): Sliced<readonly GatewayVerdict[]> {
  const ports = new PortClaims(sources.otherPorts, sources.addresses[0])
  const verdicts: GatewayVerdict[] = []
  const sorted = gateways.toSorted(olderFirst)
  const assigned = sources.balanced?.(sorted) ?? assignAddresses(sorted, sources.addresses)
  for (const gateway of sorted) {
    const addresses = assigned.get(gateway) ?? noAddresses
    const verdict = isolatedVerdict(gateway, addresses, sources, ports, onUnservable)
    verdicts.push(yield* withListenerSets(verdict, sources, ports, onUnservable, slice))
    if (slice.isUsedUp()) yield
  }
  return verdicts
}

const noAddresses: AssignedAddresses = {
  outcome: unmet('AddressNotAssigned', 'there is no address'),
  addresses: [],
  places: [],
}

function isolatedVerdict(
  gateway: Gateway,
  assigned: AssignedAddresses,
  sources: GatewaySources,
  ports: PortClaims,
  onUnservable: OnUnservable,
): GatewayVerdict {
  try {
    return evaluateGateway(gateway, assigned, sources, ports)
  } catch (error) {
    const message = onUnservable('Gateway', gateway, error)
    const { outcome: addresses } = assigned
    const nothing = { assigned: [], places: [], listeners: [], listenerSets: [] }
    return { gateway, accepted: unmet('Invalid', message), addresses, ...nothing }
  }
}

function evaluateGateway(
  gateway: Gateway,
  { outcome: addresses, addresses: assigned, places }: AssignedAddresses,
  sources: GatewaySources,
  ports: PortClaims,
): GatewayVerdict {
  const accepted = acceptedGateway(gateway)
  const owner = { kind: 'Gateway', object: gateway } as const
  const evaluated = gateway.spec.listeners.map((listener) => evaluateListener(owner, listener, sources))
  const listeners = evaluated.map((each) => ({
    ...each,
    gateway,
    owner,
    places,
    conflicted: conflictAmong(each, evaluated),
  }))
  const verdict = {
    gateway,
    accepted,
    addresses,
    assigned,
    places,
    listeners: listeners.map(withConflict),
    listenerSets: [],
  }
  return areListenersServed(verdict) ? { ...verdict, listeners: verdict.listeners.map(ports.claim) } : verdict
}

/** Listeners of the Gateway come first, then those of older ListenerSets; later ones conflict with them. */
function* withListenerSets(
  verdict: GatewayVerdict,
  sources: GatewaySources,
  ports: PortClaims,
  onUnservable: OnUnservable,
  slice: Slice,
): Sliced<GatewayVerdict> {
  const sets = sources.listenerSets.get(keyOf(verdict.gateway)) ?? []
  if (sets.length === 0) return verdict
  const held = new HeldPorts()
  for (const each of verdict.listeners) if (!each.conflicted.isMet) held.hold(each)
  const listenerSets: ListenerSetVerdict[] = []
  for (const listenerSet of sets) {
    listenerSets.push(isolatedSet(verdict, listenerSet, held, sources, ports, onUnservable))
    if (slice.isUsedUp()) yield
  }
  return { ...verdict, listenerSets }
}

function isolatedSet(
  verdict: GatewayVerdict,
  listenerSet: ListenerSet,
  held: HeldPorts,
  sources: GatewaySources,
  ports: PortClaims,
  onUnservable: OnUnservable,
): ListenerSetVerdict {
  const { gateway, places } = verdict
  const namespace = namespaceOf(listenerSet)
  const owner = { kind: 'ListenerSet', object: listenerSet } as const
  const rejected = (attached: Outcome): ListenerSetVerdict => ({ listenerSet, attached, listeners: [] })
  try {
    if (!allowsListenerSets(gateway, namespace, (name) => sources.namespaceLabels(name)))
      return rejected(unmet('NotAllowed', `the Gateway allows no ListenerSets of namespace ${namespace}`))
    // One that cannot be read must not hold the ports of its first listeners.
    const evaluated = listenerSet.spec.listeners.map((each) => evaluateListener(owner, each, sources))
    const listeners = evaluated.map((each) => {
      const conflicted = held.conflictOf(each)
      if (!conflicted.isMet) held.hold(each)
      const listener = withConflict({ ...each, gateway, owner, places, conflicted })
      return areListenersServed(verdict) ? ports.claim(listener) : listener
    })
    return { listenerSet, attached: met('Accepted', 'the ListenerSet is attached'), listeners }
  } catch (error) {
    return rejected(unmet('Invalid', onUnservable('ListenerSet', listenerSet, error)))
  }
}

function acceptedGateway({ spec }: Gateway): Outcome {
  const parameters = spec.infrastructure?.parametersRef
  if (parameters !== undefined)
    return unmet('InvalidParameters', `parameters of kind ${parameters.kind} are not supported`)
  const unsupported = (spec.addresses ?? []).find(({ type = 'IPAddress' }) => type !== 'IPAddress')
  return unsupported === undefined
    ? met('Accepted', 'the Gateway is accepted')
    : unmet('UnsupportedAddress', `addresses of type ${unsupported.type} are not supported; IPAddress is`)
}

const withConflict = (verdict: ListenerVerdict): ListenerVerdict =>
  verdict.conflicted.isMet
    ? { ...verdict, accepted: unmet(verdict.conflicted.reason, verdict.conflicted.message) }
    : verdict
