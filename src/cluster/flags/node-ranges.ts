// Node ranges: the flags for pod addresses, with upstream's names, and their defaults.
import { familyOf } from '../../base/net/address-family.ts'
import { cidrOf, mustParseCidr, networkAddressOf, prefixLengthOf, type Cidr } from '../../base/net/cidr.ts'
import { bitsIn } from '../../base/net/ip-address.ts'
import { parseCidrSloppy } from '../../base/net/sloppy-address.ts'
import { serviceRangesDefault } from '../../apiserver/strategies/service/service-ranges.ts'
import type { NodeRanges, NodeRangeSettings } from '../../controllers/runtime/controller-settings.ts'

export const nodeRangeFlags = {
  'allocate-node-cidrs': { type: 'string', value: 'true|false', help: 'allocate a pod address range to every node' },
  'cluster-cidr': {
    type: 'string',
    value: '<cidr>[,<cidr>]',
    help: 'the address range of all pods, one per IP family',
  },
  'node-cidr-mask-size': {
    type: 'string',
    value: '<n>',
    help: 'the prefix length of the range of a node (24; IPv6 64)',
  },
  'node-cidr-mask-size-ipv4': { type: 'string', value: '<n>', help: 'the prefix length of its IPv4 range (24)' },
  'node-cidr-mask-size-ipv6': { type: 'string', value: '<n>', help: 'the prefix length of its IPv6 range (64)' },
} as const

export type NodeRangeFlagValues = Readonly<Partial<Record<keyof typeof nodeRangeFlags, string>>>

const maskSizeDefault = { IPv4: 24, IPv6: 64 } as const
/** As upstream: limits the number of ranges. */
const rangeBitsMax = { IPv4: 32, IPv6: 16 } as const

/** Wide enough for every simulated node; includes the default range of one machine. */
export const clusterCidrDefault = (nodes: number): string => (nodes <= 256 ? '10.244.0.0/16' : '10.128.0.0/9')

export const podRangesDefault = (nodes: number): NodeRanges => ({
  cidr: clusterCidrDefault(nodes),
  maskSize: maskSizeDefault.IPv4,
})

export const nodeRangesDefault = (nodes: number): NodeRangeSettings => ({
  ranges: [podRangesDefault(nodes)],
  reserved: serviceRangesDefault.clusterCidrs,
})

/** Parses the flags. Throws on an invalid value. */
export function nodeRangesOf(
  flags: NodeRangeFlagValues,
  unless: { readonly isOn: boolean; readonly clusterCidr: string },
  serviceCidrs: readonly string[] = serviceRangesDefault.clusterCidrs,
): NodeRangeSettings {
  const isOn = flags['allocate-node-cidrs'] ?? String(unless.isOn)
  if (isOn !== 'true' && isOn !== 'false')
    throw new Error(`--allocate-node-cidrs ${JSON.stringify(isOn)} is neither true nor false`)
  if (isOn === 'false') return { ranges: [], reserved: [] }
  const text = flags['cluster-cidr'] ?? unless.clusterCidr
  if (text === '') throw new Error('--allocate-node-cidrs needs --cluster-cidr')
  const cidrs = text.split(',').map(clusterCidrOf)
  const ranges = cidrs.map((cidr) => ({ cidr, maskSize: maskSizeOf(cidr, cidrs.length, flags) }))
  if (cidrs.length > 2 || new Set(cidrs.map(familyOf)).size !== cidrs.length)
    throw new Error(`--cluster-cidr ${JSON.stringify(text)} has more than one range of a family`)
  return { ranges, reserved: serviceCidrs }
}

function clusterCidrOf(text: string): Cidr {
  const cidr = parseCidrSloppy(text)
  if (cidr === undefined)
    throw new Error(
      `--cluster-cidr: ${JSON.stringify(text)} must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)`,
    )
  return cidr
}

function maskSizeOf(cidr: Cidr, count: number, flags: NodeRangeFlagValues): number {
  const family = familyOf(cidr)
  const prefixLength = prefixLengthOf(cidr)
  const own = family === 'IPv4' ? 'node-cidr-mask-size-ipv4' : 'node-cidr-mask-size-ipv6'
  const flag = flags[own] === undefined && count === 1 ? 'node-cidr-mask-size' : own
  const size = Number(flags[flag] ?? maskSizeDefault[family])
  const most = Math.min(bitsIn(family), prefixLength + rangeBitsMax[family])
  if (!Number.isInteger(size) || size < prefixLength || size > most)
    throw new Error(`--${flag} ${size} is no number from ${prefixLength} to ${most}, for the range ${cidr}`)
  return size
}

/** The ranges of this machine, which are needed before the start because the CNI configuration contains them. */
export const firstNodeRanges = ({ ranges }: NodeRangeSettings): readonly Cidr[] =>
  (ranges.length > 0 ? ranges : [podRangesDefault(1)]).map(({ cidr, maskSize }) =>
    cidrOf(networkAddressOf(mustParseCidr(cidr)), maskSize),
  )
