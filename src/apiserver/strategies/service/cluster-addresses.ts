// Cluster addresses: the IPv4 address of a Service, from the ranges of the ServiceCIDRs. An allocated address is an
// IPAddress object of that name.
import { lookup } from '../../../base/collections/lookup.ts'
import { ipAddress, type IPAddress } from '../../../api/networking/v1/ip-address.ts'
import { parseCidr } from '../../../api/networking/v1/cidr.ts'
import { serviceCidr, type ServiceCIDR } from '../../../api/networking/v1/service-cidr.ts'
import { isIpV4 } from '../../../api/validation/network-rules.ts'
import { isBeingDeleted, objectKey } from '../../../api/meta/object.ts'
import type { Service } from '../../../api/core/v1/service/service.ts'
import { StoredObject } from '../../storage/stored-object.ts'
import type { Allocation } from '../../registry/allocations.ts'
import { keyPrefix, storeKey } from '../../storage/store-keys.ts'
import type { StrategyContext } from '../../registry/strategy.ts'
import { freeNumber, reservedCount, type NumberRange } from './free-number.ts'

/** The range of a cluster without ServiceCIDRs. */
export const serviceCidrDefault = '10.96.0.0/12'

export const addressPrefix = keyPrefix(ipAddress)

const managedBy = { 'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io' }

interface AddressRange extends NumberRange {
  readonly cidr: string
  readonly base: number
  readonly size: number
}

const isReady = ({ status }: ServiceCIDR): boolean =>
  status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false

function rangesOf(context: StrategyContext): AddressRange[] {
  const all = context.list(serviceCidr)
  const ready = all.filter((object) => isReady(object) && !isBeingDeleted(object))
  const cidrs = all.length === 0 ? [serviceCidrDefault] : ready.flatMap(({ spec }) => spec.cidrs ?? [])
  return cidrs.filter((cidr) => isIpV4(cidr.split('/')[0] ?? '')).map(rangeOf)
}

function rangeOf(cidr: string): AddressRange {
  const { address, prefixLength } = parseCidr(cidr)
  const [base, size] = [Number(address), 2 ** (32 - prefixLength)]
  // The network address and the broadcast address are not allocated.
  const [first, last] = [base + 1, base + size - 2]
  return { cidr, base, size, first, last, reserved: reservedCount(size, 16, 256) }
}

const textOf = (number: number): string => [24, 16, 8, 0].map((shift) => (number >>> shift) & 0xff).join('.')
const numberOf = (text: string): number => text.split('.').reduce((bits, part) => bits * 256 + Number(part), 0)

const isTaken = (context: StrategyContext, address: string): boolean =>
  context.get(ipAddress, '', address) !== undefined

/** Why a Service cannot have the requested address; undefined where it can. */
export function allocationProblem(context: StrategyContext, address: string): string | undefined {
  const number = numberOf(address)
  const range = rangesOf(context).find(({ base, size }) => number >= base && number < base + size)
  if (range === undefined) return 'the provided network does not match the current range'
  if (number < range.first || number > range.last)
    return `the provided IP (${address}) is not in the valid range. The range of valid IPs is ${range.cidr}`
  return isTaken(context, address) ? 'provided IP is already allocated' : undefined
}

/** A free address; undefined where all ranges are full. */
export function freeAddress(context: StrategyContext): string | undefined {
  for (const range of rangesOf(context)) {
    const number = freeNumber(range, context.random, (candidate) => isTaken(context, textOf(candidate)))
    if (number !== undefined) return textOf(number)
  }
  return undefined
}

/** The IPAddress that allocates an address for a Service. */
export const addressAllocation = ({ metadata: { namespace = '', name } }: Service, address: string): Allocation => ({
  key: storeKey(ipAddress, '', address),
  value: (birth) =>
    StoredObject.pending({
      kind: ipAddress.kind,
      apiVersion: ipAddress.apiVersion,
      metadata: { name: address, ...birth, labels: { 'ipaddress.kubernetes.io/ip-family': 'IPv4', ...managedBy } },
      spec: { parentRef: { resource: 'services', namespace, name } },
    } as unknown as IPAddress),
})

/** The key of the Service that owns an allocated IPAddress; undefined for other IPAddresses. */
export function addressOwner(object: Partial<IPAddress>): string | undefined {
  const parent = object.spec?.parentRef
  const isOurs = Object.entries(managedBy).every(([key, value]) => lookup(object.metadata?.labels, key) === value)
  if (!isOurs || parent?.resource !== 'services') return undefined
  return objectKey(parent.namespace ?? '', parent.name)
}
