// ServiceRanges: the cluster IPs and node ports of a cluster, as its flags define them.
import { addressText, parseCidr, type Cidr } from '../../../api/networking/v1/cidr.ts'

export type IpFamily = Cidr['family']

export interface ServiceRanges {
  /** One CIDR, or one of each IP family. The family of the first is the default. */
  readonly clusterCidrs: readonly [string, ...string[]]
  readonly nodePorts: { readonly first: number; readonly last: number }
}

export const serviceRangesDefault: ServiceRanges = {
  clusterCidrs: ['10.96.0.0/12'],
  nodePorts: { first: 30_000, last: 32_767 },
}

/** The families of the cluster; the first is the default. */
export const familiesOf = ({ clusterCidrs }: ServiceRanges): readonly [IpFamily, ...IpFamily[]] => {
  const [first, ...others] = clusterCidrs
  return [parseCidr(first).family, ...others.map((cidr) => parseCidr(cidr).family)]
}

/** The cluster IP of the Service `kubernetes`: the first address of the first range. */
export function kubernetesServiceAddressOf({ clusterCidrs: [first] }: ServiceRanges): string {
  const { family, address } = parseCidr(first)
  return addressText(family, address + 1n)
}
