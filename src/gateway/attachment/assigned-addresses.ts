// Assigns the addresses of the proxy to Gateways: those that a Gateway requests, otherwise the one that it has, otherwise the
// first that no Gateway has. If there is none, Gateways share the first address. Pure.
import type { Gateway } from '../kinds/gateway-kinds.ts'
import { met, unmet, type Outcome } from './outcome.ts'

export interface AssignedAddresses {
  /** Whether the requested addresses are those of the proxy. */
  readonly outcome: Outcome
  /** Empty if the proxy has none, or not the requested ones. */
  readonly addresses: readonly string[]
  /** Where its ports are: at these addresses, or at a load balancer of its own. */
  readonly places: readonly string[]
}

/** `gateways` are in the order of their age; `own` are the addresses of the proxy. */
export function assignAddresses(
  gateways: readonly Gateway[],
  own: readonly string[],
): ReadonlyMap<Gateway, AssignedAddresses> {
  const usable = new Set(own)
  const assigned = new Map<Gateway, AssignedAddresses>()
  const used = new Set<string>()
  const assign = (gateway: Gateway, addresses: readonly string[]) => {
    for (const address of addresses) used.add(address)
    assigned.set(gateway, { outcome: usableAddresses, addresses, places: addresses })
  }
  const undecided: Gateway[] = []
  for (const gateway of gateways) {
    const requested = requestedAddresses(gateway)
    const unusable = requested.find((address) => !usable.has(address))
    if (unusable !== undefined) assigned.set(gateway, { outcome: notUsable(unusable, own), addresses: [], places: [] })
    else if (requested.length > 0) assign(gateway, requested)
    else undecided.push(gateway)
  }
  // Those that have an address come before those that have none, so that a new Gateway moves no other.
  const kept = new Set<string>()
  const without = undecided.filter((gateway) => {
    const address = gateway.status?.addresses?.find(({ value = '' }) => usable.has(value) && !kept.has(value))?.value
    if (address === undefined) return true
    kept.add(address)
    assign(gateway, [address])
    return false
  })
  let next = 0
  for (const gateway of without) {
    while (next < own.length && used.has(own[next] ?? '')) next++
    const address = own[next] ?? own[0]
    assign(gateway, address === undefined ? [] : [address])
  }
  return assigned
}

const usableAddresses = met('Programmed', 'the addresses are those of the proxy')

const namedAddressesMax = 3

function notUsable(address: string, own: readonly string[]): Outcome {
  const others = own.length - namedAddressesMax
  const named = [...own.slice(0, namedAddressesMax), ...(others > 0 ? [`${others} others`] : [])].join(', ') || 'none'
  return unmet(
    'AddressNotUsable',
    `the proxy has no address ${address}; it has ${named} (coxswain up --ingress-address)`,
  )
}

/** An address without a value stands for any address. A Gateway that cannot be read requests none; it is not served. */
export function requestedAddresses({ spec }: Gateway): readonly string[] {
  const requested = (spec as Partial<Gateway['spec']> | undefined)?.addresses
  return Array.isArray(requested) ? requested.flatMap(({ value }: { readonly value?: string }) => value ?? []) : []
}
