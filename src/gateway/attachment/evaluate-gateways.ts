// Decides which listeners of all Gateways are served: conflicts within a Gateway, and ports that other Gateways or Ingresses
// have. Of two Gateways that need the same port of an address, the older gets it. Pure.
import type { Slice, Sliced } from '../../base/work/work-slice.ts'
import { keyOf, namespaceOf, type ObjectKey } from '../../api/meta/object.ts'
import type { Labels } from '../../api/selectors/selectors.ts'
import type { Gateway, ListenerSet } from '../kinds/gateway-kinds.ts'
import { allowsListenerSets } from './allowed-namespaces.ts'
import { assignAddresses, type AssignedAddresses } from './assigned-addresses.ts'
import { evaluateListener, type EvaluatedListener, type ListenerSources, type Scheme } from './evaluate-listener.ts'
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
    verdicts.push(isolatedVerdict(gateway, addresses, sources, ports, onUnservable))
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
    return withListenerSets(evaluateGateway(gateway, assigned, sources, ports), sources, ports, onUnservable)
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
    conflicted: conflictOf(each, evaluated),
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
function withListenerSets(
  verdict: GatewayVerdict,
  sources: GatewaySources,
  ports: PortClaims,
  onUnservable: OnUnservable,
): GatewayVerdict {
  const { gateway } = verdict
  const earlier = verdict.listeners.filter(({ conflicted }) => !conflicted.isMet)
  const listenerSets = (sources.listenerSets.get(keyOf(gateway)) ?? []).map((listenerSet): ListenerSetVerdict => {
    const namespace = namespaceOf(listenerSet)
    const rejected = (attached: Outcome): ListenerSetVerdict => ({ listenerSet, attached, listeners: [] })
    if (!allowsListenerSets(gateway, namespace, (name) => sources.namespaceLabels(name)))
      return rejected(unmet('NotAllowed', `the Gateway allows no ListenerSets of namespace ${namespace}`))
    try {
      const listeners = setListeners(verdict, listenerSet, earlier, sources)
      earlier.push(...listeners.filter(({ conflicted }) => !conflicted.isMet))
      const claimed = areListenersServed(verdict) ? listeners.map(ports.claim) : listeners
      return { listenerSet, attached: met('Accepted', 'the ListenerSet is attached'), listeners: claimed }
    } catch (error) {
      return rejected(unmet('Invalid', onUnservable('ListenerSet', listenerSet, error)))
    }
  })
  return { ...verdict, listenerSets }
}

function setListeners(
  { gateway, places }: GatewayVerdict,
  listenerSet: ListenerSet,
  earlier: readonly EvaluatedListener[],
  sources: ListenerSources,
): readonly ListenerVerdict[] {
  const owner = { kind: 'ListenerSet', object: listenerSet } as const
  const found: ListenerVerdict[] = []
  for (const listener of listenerSet.spec.listeners) {
    const evaluated = evaluateListener(owner, listener, sources)
    const conflicted = conflictOf(evaluated, [...earlier, ...found.filter((each) => !each.conflicted.isMet)])
    found.push(withConflict({ ...evaluated, gateway, owner, places, conflicted }))
  }
  return found
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

function conflictOf({ listener, scheme }: EvaluatedListener, all: readonly EvaluatedListener[]): Outcome {
  const others = all.filter(
    (each) => each.listener !== listener && each.listener.port === listener.port && each.scheme !== undefined,
  )
  // TCP is not supported, but what has the port conflicts with it.
  const hasPort = scheme !== undefined || listener.protocol === 'TCP'
  const protocol = hasPort ? others.find((each) => each.scheme !== scheme) : undefined
  if (protocol !== undefined)
    return met('ProtocolConflict', `listener ${protocol.listener.name} has another protocol on port ${listener.port}`)
  const hostname = others.find(
    (each) => each.scheme === scheme && (each.listener.hostname ?? '') === (listener.hostname ?? ''),
  )
  if (hostname !== undefined)
    return met('HostnameConflict', `listener ${hostname.listener.name} has the same hostname on port ${listener.port}`)
  return unmet('NoConflicts', 'no other listener conflicts with it')
}

const withConflict = (verdict: ListenerVerdict): ListenerVerdict =>
  verdict.conflicted.isMet
    ? { ...verdict, accepted: unmet(verdict.conflicted.reason, verdict.conflicted.message) }
    : verdict
