// ServiceRanges: the cluster IPs and node ports of a cluster, as its flags define them.
import { familyOf, type AddressFamily } from '../../../base/net/address-family.ts'
import { addressAt, mustParseCidr, type Cidr } from '../../../base/net/cidr.ts'
import type { IpAddress } from '../../../base/net/ip-address.ts'

export type IpFamily = AddressFamily

export interface ServiceRanges {
  /** One CIDR, or one of each IP family. The family of the first is the default. */
  readonly clusterCidrs: readonly [Cidr, ...Cidr[]]
  readonly nodePorts: { readonly first: number; readonly last: number }
}

export const serviceRangesDefault: ServiceRanges = {
  clusterCidrs: [mustParseCidr('10.96.0.0/12')],
  nodePorts: { first: 30_000, last: 32_767 },
}

/** The families of the cluster; the first is the default. */
export const familiesOf = ({ clusterCidrs }: ServiceRanges): readonly [IpFamily, ...IpFamily[]] => {
  const [first, ...others] = clusterCidrs
  return [familyOf(first), ...others.map(familyOf)]
}

/** The cluster IP of the Service `kubernetes`: the first address of the first range. */
export const kubernetesServiceAddressOf = ({ clusterCidrs: [first] }: ServiceRanges): IpAddress => addressAt(first, 1n)
