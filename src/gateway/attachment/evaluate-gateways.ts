// Decides which listeners of all Gateways are served: conflicts within a Gateway, and ports that other Gateways or Ingresses
// have. Of two Gateways that need the same port of an address, the older gets it. Pure.
import type { Slice, Sliced } from '../../base/work/work-slice.ts'
import type { Gateway } from '../kinds/gateway-kinds.ts'
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
  readonly listeners: readonly ListenerVerdict[]
}

export interface GatewaySources extends ListenerSources {
  /** The addresses of the proxy. The first is that of Ingresses, too. */
  readonly addresses: readonly string[]
  /** The addresses of load balancers, if Gateways have such. */
  readonly balanced?: (gateways: readonly Gateway[]) => ReadonlyMap<Gateway, AssignedAddresses>
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
    return evaluateGateway(gateway, assigned, sources, ports)
  } catch (error) {
    const message = onUnservable('Gateway', gateway, error)
    const { outcome: addresses } = assigned
    return { gateway, accepted: unmet('Invalid', message), addresses, assigned: [], places: [], listeners: [] }
  }
}

function evaluateGateway(
  gateway: Gateway,
  { outcome: addresses, addresses: assigned, places }: AssignedAddresses,
  sources: GatewaySources,
  ports: PortClaims,
): GatewayVerdict {
  const accepted = acceptedGateway(gateway)
  const evaluated = gateway.spec.listeners.map((listener) => evaluateListener(gateway, listener, sources))
  const listeners = evaluated.map((each) => ({
    ...each,
    gateway,
    places,
    conflicted: conflictOf(each, evaluated),
  }))
  const verdict = { gateway, accepted, addresses, assigned, places, listeners: listeners.map(withConflict) }
  return areListenersServed(verdict) ? { ...verdict, listeners: verdict.listeners.map(ports.claim) } : verdict
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
    (each) => each.listener.name !== listener.name && each.listener.port === listener.port && each.scheme !== undefined,
  )
  const protocol = scheme === undefined ? undefined : others.find((each) => each.scheme !== scheme)
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
