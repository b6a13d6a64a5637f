// allocatorUsage: how many cluster IPs and node ports the Services have, and how many are free.
import { service } from '../../../api/core/v1/service/service.ts'
import { cidrText, containsCidr, parseCidr, widthOf, type Cidr } from '../../../api/networking/v1/cidr.ts'
import { ipAddress } from '../../../api/networking/v1/ip-address.ts'
import { isIpV6 } from '../../../api/validation/network-rules.ts'
import type { AllocatorUsage, RangeUsage } from '../../metrics/allocator-metrics.ts'
import type { ObjectLister } from '../../watch-cache/object-caches.ts'
import { addressOwner, allocatedCidrs } from './cluster-addresses.ts'
import { nodePortsOf } from './node-ports.ts'
import type { ServiceRanges } from './service-ranges.ts'

export function allocatorUsage(lister: ObjectLister, ranges: ServiceRanges): AllocatorUsage {
  const addresses = lister
    .list(ipAddress)
    .filter((object) => addressOwner(object) !== undefined)
    .map(({ metadata: { name } }) => parseCidr(`${name}/${isIpV6(name) ? 128 : 32}`))
  const ofCidr = (cidr: Cidr): RangeUsage => {
    const allocated = addresses.reduce((count, address) => (containsCidr(cidr, address) ? count + 1 : count), 0)
    return { allocated, available: sizeOf(cidr) - allocated }
  }
  const { first, last } = ranges.nodePorts
  const ports = new Set(lister.list(service).flatMap(nodePortsOf))
  return {
    addresses: new Map(allocatedCidrs(lister, ranges).map((cidr) => [cidrText(cidr), ofCidr(cidr)])),
    ports: { allocated: ports.size, available: last - first + 1 - ports.size },
  }
}

/** Neither the network address nor the broadcast address, which IPv6 does not have, can be allocated. */
const sizeOf = ({ family, prefixLength }: Cidr): number =>
  2 ** (widthOf(family) - prefixLength) - (family === 'IPv4' ? 2 : 1)
