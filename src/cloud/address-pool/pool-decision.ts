// The addresses of one Service from a pool, as a pure function of what other Services have.
import { keyOf } from '../../api/meta/object.ts'
import type { Service } from '../../api/core/v1/service/service.ts'
import { familyOf, type AddressFamily } from '../../base/net/address-family.ts'
import type { IpAddress } from '../../base/net/ip-address.ts'
import { parseIpSloppy } from '../../base/net/sloppy-address.ts'
import { balancedPorts, isOlder } from '../node-addresses/port-claims.ts'
import type { AddressPool } from './address-pool.ts'

export interface PoolView {
  readonly pool: AddressPool
  /** The other Services with addresses of the pool, by address. */
  readonly holders: ReadonlyMap<string, readonly Service[]>
  /** The addresses that this Service has. */
  readonly held: readonly string[]
  /** The addresses of nodes are never assigned. */
  readonly nodeAddresses: ReadonlySet<string>
}

export interface PoolDecision {
  readonly addresses: readonly string[]
  /** Why a family has no address. */
  readonly problems: readonly string[]
}

type Outcome = { readonly address: string } | { readonly problem: string } | { readonly kind: 'not required' }

export function poolDecision(service: Service, view: PoolView): PoolDecision {
  const families = (service.spec.ipFamilies ?? ['IPv4']) as readonly AddressFamily[]
  const outcomes = families.map((family, index) => addressOf(service, family, index === 0, view))
  return {
    addresses: outcomes.flatMap((outcome) => ('address' in outcome ? [outcome.address] : [])),
    problems: outcomes.flatMap((outcome) => ('problem' in outcome ? [outcome.problem] : [])),
  }
}

function addressOf(service: Service, family: AddressFamily, isFirst: boolean, view: PoolView): Outcome {
  const { pool, holders, held, nodeAddresses } = view
  const requested = requestedAddress(service)
  if (requested !== undefined && familyOf(requested) === family) return requestedOutcome(service, requested, view)
  const current = held.find((address) => familyOf(address) === family && pool.contains(address))
  if (current !== undefined && !nodeAddresses.has(current)) {
    const stronger = (holders.get(current) ?? []).some((other) => isOlder(other, service))
    if (!stronger) return { address: current }
  }
  const free = pool.firstFree(family, (address) => holders.has(address) || nodeAddresses.has(address))
  if (free !== undefined) return { address: free }
  if (pool.has(family)) return { problem: `all ${family} addresses of the pool are used` }
  const isOptional = !isFirst && service.spec.ipFamilyPolicy === 'PreferDualStack'
  return isOptional ? { kind: 'not required' } : { problem: `the pool has no ${family} addresses` }
}

/** The address in `spec.loadBalancerIP`, which is validated nowhere else. */
export const requestedAddress = ({ spec }: Service): IpAddress | undefined => parseIpSloppy(spec.loadBalancerIP ?? '')

function requestedOutcome(
  service: Service,
  address: string,
  { pool, holders, held, nodeAddresses }: PoolView,
): Outcome {
  if (!pool.contains(address)) return { problem: `address ${address} is not in the pool` }
  if (nodeAddresses.has(address)) return { problem: `address ${address} belongs to a node` }
  // A Service that has the address keeps it against younger ones, which lose it instead.
  const conflicting = (holders.get(address) ?? []).filter((other) => !held.includes(address) || isOlder(other, service))
  for (const other of conflicting) {
    const why = whyNotShared(service, other, address)
    if (why !== undefined) return { problem: why }
  }
  return { address }
}

/**
 * Services share an address if all of them name it and none of their ports is the same. With the policy Local, the node
 * of an address depends on the endpoints of one Service.
 */
function whyNotShared(service: Service, other: Service, address: string): string | undefined {
  if (requestedAddress(other) !== address) return `address ${address} belongs to Service ${keyOf(other)}`
  const local = [service, other].find(({ spec }) => spec.externalTrafficPolicy === 'Local')
  if (local !== undefined)
    return `address ${address} belongs to Service ${keyOf(other)}, and externalTrafficPolicy of ${keyOf(local)} is Local`
  const ports = new Set(balancedPorts(other))
  const shared = balancedPorts(service).find((port) => ports.has(port))
  return shared === undefined ? undefined : `port ${shared} of address ${address} belongs to Service ${keyOf(other)}`
}
