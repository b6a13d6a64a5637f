// Flags that choose what implements Services of type LoadBalancer.
import { AddressPool } from '../../cloud/address-pool/address-pool.ts'

/** `node-addresses`: the addresses of the nodes are those of load balancers. Otherwise the addresses of a pool. */
export type LoadBalancerChoice = 'node-addresses' | 'none' | { readonly addresses: string }

export const addressPoolFlag = {
  'load-balancer-addresses': {
    type: 'string',
    value: '<ranges>',
    help: 'addresses for load balancers, announced over ARP and NDP: 10.0.0.240-10.0.0.250,fd00::/120',
  },
} as const

export const loadBalancerFlags = {
  'load-balancers': {
    type: 'string',
    value: 'node-addresses|none',
    help: 'what implements Services of type LoadBalancer: the addresses of the nodes, or another controller (node-addresses)',
  },
  ...addressPoolFlag,
} as const

export type LoadBalancerFlagValues = { readonly [name in keyof typeof loadBalancerFlags]?: string | undefined }

/** Throws an Error that names the flag. */
export function loadBalancerChoiceOf(flags: LoadBalancerFlagValues): LoadBalancerChoice {
  const { 'load-balancers': text, 'load-balancer-addresses': addresses } = flags
  if (addresses !== undefined) {
    if (text !== undefined) throw new Error('--load-balancers and --load-balancer-addresses exclude one another')
    addressPoolOf(addresses)
    return { addresses }
  }
  const choice = text ?? 'node-addresses'
  if (choice !== 'node-addresses' && choice !== 'none')
    throw new Error(`--load-balancers ${JSON.stringify(choice)} is none of node-addresses, none`)
  return choice
}

/** Throws an Error that names the flag. */
export function addressPoolOf(text: string): AddressPool {
  try {
    return AddressPool.parse(text)
  } catch (error) {
    throw new Error(`--load-balancer-addresses: ${(error as Error).message}`, { cause: error })
  }
}
