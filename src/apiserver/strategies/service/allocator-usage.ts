// allocatorUsage: how many cluster IPs and node ports the Services have, and how many are free.
import { familyOf } from '../../../base/net/address-family.ts'
import { cidrBounds, cidrSize, type Cidr } from '../../../base/net/cidr.ts'
import { addressBits, parseIps } from '../../../base/net/ip-address.ts'
import { service } from '../../../api/core/v1/service/service.ts'
import { ipAddress } from '../../../api/networking/v1/ip-address.ts'
import type { AllocatorUsage, RangeUsage } from '../../metrics/allocator-metrics.ts'
import type { ObjectLister } from '../../watch-cache/object-caches.ts'
import { addressOwner, allocatedCidrs } from './cluster-addresses.ts'
import { nodePortsOf } from './node-ports.ts'
import type { ServiceRanges } from './service-ranges.ts'

export function allocatorUsage(lister: ObjectLister, ranges: ServiceRanges): AllocatorUsage {
  const owned = lister.list(ipAddress).filter((object) => addressOwner(object) !== undefined)
  const addresses = parseIps(owned.map(({ metadata: { name } }) => name)).map((address) => ({
    family: familyOf(address),
    bits: addressBits(address),
  }))
  const ofCidr = (cidr: Cidr): RangeUsage => {
    const { first, last } = cidrBounds(cidr)
    const allocated = addresses.filter(
      ({ family, bits }) => family === familyOf(cidr) && first <= bits && bits <= last,
    ).length
    return { allocated, available: sizeOf(cidr) - allocated }
  }
  const { first, last } = ranges.nodePorts
  const ports = new Set(lister.list(service).flatMap(nodePortsOf))
  return {
    addresses: new Map(allocatedCidrs(lister, ranges).map((cidr) => [cidr, ofCidr(cidr)])),
    ports: { allocated: ports.size, available: last - first + 1 - ports.size },
  }
}

/** Neither the network address nor the broadcast address, which IPv6 does not have, can be allocated. */
const sizeOf = (cidr: Cidr): number => Number(cidrSize(cidr)) - (familyOf(cidr) === 'IPv4' ? 2 : 1)
