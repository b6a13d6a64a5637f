// Cluster addresses: the addresses of a Service, from the ranges of the ServiceCIDRs. An allocated address is an IPAddress
// object of that name.
import { lookup } from '../../../base/collections/lookup.ts'
import { familyOf } from '../../../base/net/address-family.ts'
import { addressAt, cidrHasAddress, cidrSize, networkAddressOf, type Cidr } from '../../../base/net/cidr.ts'
import { addressBits, type IpAddress } from '../../../base/net/ip-address.ts'
import { parseCidrsSloppy } from '../../../base/net/sloppy-address.ts'
import { ipAddress, type IPAddress } from '../../../api/networking/v1/ip-address.ts'
import { serviceCidr, type ServiceCIDR } from '../../../api/networking/v1/service-cidr.ts'
import { isBeingDeleted, objectKey } from '../../../api/meta/object.ts'
import type { Service } from '../../../api/core/v1/service/service.ts'
import { StoredObject } from '../../storage/stored-object.ts'
import type { Allocation } from '../../registry/resource/allocations.ts'
import { keyPrefix, storeKey } from '../../storage/store-keys.ts'
import type { StrategyContext } from '../../registry/resource/strategy.ts'
import type { ObjectLister } from '../../watch-cache/object-caches.ts'
import type { AllocationMeasures } from './allocation-measures.ts'
import { freeNumber, reservedCount, type NumberRange } from './free-number.ts'
import type { IpFamily, ServiceRanges } from './service-ranges.ts'

export const addressPrefix = keyPrefix(ipAddress)

const managedBy = { 'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io' }

/** A range of which the numbers are offsets from its first address. */
interface AddressRange extends NumberRange {
  readonly cidr: Cidr
}

/** The part of a large IPv6 range from which addresses are chosen. */
const offsetsMax = 2 ** 32

const isReady = ({ status }: ServiceCIDR): boolean =>
  status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false

/** The CIDRs from which addresses are allocated. Until the first ServiceCIDR exists, they are those of the flags. */
export function allocatedCidrs(lister: ObjectLister, { clusterCidrs }: ServiceRanges): readonly Cidr[] {
  const all = lister.list(serviceCidr)
  const ready = all.filter((object) => isReady(object) && !isBeingDeleted(object))
  const cidrs = all.length === 0 ? clusterCidrs : ready.flatMap(({ spec }) => spec.cidrs ?? [])
  return parseCidrsSloppy(cidrs)
}

const rangesOf = (context: StrategyContext, ranges: ServiceRanges, family: IpFamily): AddressRange[] =>
  allocatedCidrs(context, ranges)
    .filter((cidr) => familyOf(cidr) === family)
    .map(rangeOf)

function rangeOf(cidr: Cidr): AddressRange {
  const size = Math.min(Number(cidrSize(cidr)), offsetsMax)
  // The network address is not allocated, and neither is the broadcast address, which IPv6 does not have.
  const last = familyOf(cidr) === 'IPv4' ? size - 2 : size - 1
  return { cidr, first: 1, last, reserved: reservedCount(size, 16, 256) }
}

const isTaken = (context: StrategyContext, address: IpAddress): boolean =>
  context.get(ipAddress, '', address) !== undefined

/** Why a Service cannot have the requested address; undefined where it can. A dry run does not check whether it is taken. */
export function allocationProblem(
  context: StrategyContext,
  ranges: ServiceRanges,
  { clock, metrics }: AllocationMeasures,
  requested: IpAddress,
): string | undefined {
  const startMs = clock.monotonicMs()
  const range = rangesOf(context, ranges, familyOf(requested)).find(({ cidr, first, last }) => {
    const offset = addressBits(requested) - addressBits(networkAddressOf(cidr))
    return cidrHasAddress(cidr, requested) && offset >= first && (offset <= last || last === offsetsMax - 1)
  })
  if (range === undefined) return 'the provided network does not match the current range'
  if (context.isDryRun) return undefined
  if (isTaken(context, requested)) {
    metrics.addressRefused(range.cidr, 'static')
    return 'provided IP is already allocated'
  }
  metrics.addressAllocated(range.cidr, 'static', (clock.monotonicMs() - startMs) / 1000)
  return undefined
}

/** A free address; undefined where all ranges are full. A dry run returns the network address, as upstream. */
export function freeAddress(
  context: StrategyContext,
  ranges: ServiceRanges,
  { clock, metrics }: AllocationMeasures,
  family: IpFamily,
): IpAddress | undefined {
  for (const { cidr, ...numbers } of rangesOf(context, ranges, family)) {
    const at = (offset: number): IpAddress => addressAt(cidr, BigInt(offset))
    if (context.isDryRun) return at(0)
    const startMs = clock.monotonicMs()
    const offset = freeNumber(numbers, context.random, (candidate) => isTaken(context, at(candidate)))
    if (offset === undefined) metrics.addressRefused(cidr, 'dynamic')
    else {
      metrics.addressAllocated(cidr, 'dynamic', (clock.monotonicMs() - startMs) / 1000)
      return at(offset)
    }
  }
  return undefined
}

/** The IPAddress that allocates an address for a Service. */
export const addressAllocation = ({ metadata: { namespace = '', name } }: Service, address: IpAddress): Allocation => {
  const family = familyOf(address)
  return {
    key: storeKey(ipAddress, '', address),
    value: (created) =>
      StoredObject.pending({
        kind: ipAddress.kind,
        apiVersion: ipAddress.apiVersion,
        metadata: { name: address, ...created, labels: { 'ipaddress.kubernetes.io/ip-family': family, ...managedBy } },
        spec: { parentRef: { resource: 'services', namespace, name } },
      } as unknown as IPAddress),
  }
}

/** The key of the Service that owns an allocated IPAddress; undefined for other IPAddresses. */
export function addressOwner(object: Partial<IPAddress>): string | undefined {
  const parent = object.spec?.parentRef
  const isOurs = Object.entries(managedBy).every(([key, value]) => lookup(object.metadata?.labels, key) === value)
  if (!isOurs || parent?.resource !== 'services') return undefined
  return objectKey(parent.namespace ?? '', parent.name)
}
