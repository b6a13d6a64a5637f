// Decides which listeners of all Gateways are served: conflicts within a Gateway, and ports that other Gateways or Ingresses
// have. All Gateways share the addresses of the proxy. Of two Gateways that need the same port, the older gets it. Pure.
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import { keyOf } from '../../api/meta/object.ts'
import type { Gateway, GatewayAddress } from '../kinds/gateway-kinds.ts'
import { evaluateListener, type EvaluatedListener, type ListenerSources, type Scheme } from './evaluate-listener.ts'
import { met, unmet, type Outcome } from './outcome.ts'
import { olderFirst } from '../../ingress/routing/older-first.ts'

export interface ListenerVerdict extends EvaluatedListener {
  readonly gateway: Gateway
  /** Met if the listener conflicts with others of its Gateway. */
  readonly conflicted: Outcome
}

export interface GatewayVerdict {
  readonly gateway: Gateway
  /** Whether the Gateway is accepted, apart from its listeners. */
  readonly accepted: Outcome
  /** Whether the requested addresses are those of the proxy. */
  readonly addresses: Outcome
  readonly listeners: readonly ListenerVerdict[]
}

export interface GatewaySources extends ListenerSources {
  /** The addresses of the proxy. */
  readonly addresses: readonly string[]
  /** The ports of Ingresses. */
  readonly otherPorts: ReadonlyMap<number, Scheme>
}

/** A listener that is open if its port can be opened. */
export type ServedListener = ListenerVerdict & { readonly scheme: Scheme }

export const isServed = (verdict: ListenerVerdict): verdict is ServedListener =>
  verdict.accepted.isMet && (verdict.scheme === 'http' || verdict.certificate !== undefined)

export const areListenersServed = ({ accepted, addresses }: GatewayVerdict): boolean =>
  accepted.isMet && addresses.isMet

/** In the order of their age. */
export function evaluateGateways(gateways: readonly Gateway[], sources: GatewaySources): readonly GatewayVerdict[] {
  const ports = new PortClaims(sources.otherPorts)
  return gateways.toSorted(olderFirst).map((gateway) => {
    const [accepted, addresses] = [acceptedGateway(gateway), usableAddresses(gateway, sources.addresses)]
    const evaluated = gateway.spec.listeners.map((listener) => evaluateListener(gateway, listener, sources))
    const listeners = evaluated.map((each) => ({ ...each, gateway, conflicted: conflictOf(each, evaluated) }))
    const verdict = { gateway, accepted, addresses, listeners: listeners.map(withConflict) }
    return areListenersServed(verdict) ? { ...verdict, listeners: verdict.listeners.map(ports.claim) } : verdict
  })
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

/** An address without a value stands for any address. */
function usableAddresses({ spec }: Gateway, own: readonly string[]): Outcome {
  const unusable = (spec.addresses ?? []).find(
    ({ value }: GatewayAddress) => value !== undefined && !own.includes(value),
  )
  return unusable === undefined
    ? met('Programmed', 'the addresses are those of the proxy')
    : unmet(
        'AddressNotUsable',
        `the proxy has no address ${unusable.value}; it has ${own.join(', ') || 'none'} (coxswain up --ingress-address)`,
      )
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

/** The ports and hostnames that are in use. */
class PortClaims {
  readonly #ports = new Map<number, { readonly scheme: Scheme; readonly hostnames: Map<string, string> }>()

  constructor(others: ReadonlyMap<number, Scheme>) {
    for (const [port, scheme] of others) this.#ports.set(port, { scheme, hostnames: new Map() })
  }

  readonly claim = (verdict: ListenerVerdict): ListenerVerdict => {
    if (!isServed(verdict)) return verdict
    const { listener, scheme, gateway } = verdict
    const { port, hostname = '' } = listener
    const claimed = getOrInsert(this.#ports, port, () => ({ scheme, hostnames: new Map<string, string>() }))
    const problem =
      claimed.scheme === scheme
        ? claimedBy(claimed.hostnames.get(hostname), port, hostname)
        : `port ${port} is in use for ${claimed.scheme.toUpperCase()}`
    if (problem !== undefined) return { ...verdict, accepted: unmet('PortUnavailable', problem) }
    claimed.hostnames.set(hostname, keyOf(gateway))
    return verdict
  }
}

const claimedBy = (owner: string | undefined, port: number, hostname: string): string | undefined =>
  owner === undefined
    ? undefined
    : `Gateway ${owner} has port ${port} ${hostname === '' ? 'for all hostnames' : `for the hostname ${hostname}`}`
