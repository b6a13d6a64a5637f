// What is wrong with the addresses and ports of one Service, as data: IPAddresses that are missing, leaked or refer to the
// wrong Service, and values that no configured range contains. ServiceRepair acts on it.
import type { Service } from '../../../api/core/v1/service/service.ts'
import type { IPAddress } from '../../../api/networking/v1/ip-address.ts'
import { addressText, containsCidr, parseCidr, type Cidr } from '../../../api/networking/v1/cidr.ts'
import { isIp, isIpV6 } from '../../../api/validation/network-rules.ts'
import { splitKey, type ObjectKey } from '../../../api/meta/object.ts'
import { addressOwner } from './cluster-addresses.ts'
import { nodePortsOf } from './node-ports.ts'
import type { RepairNote } from './repair-event.ts'
import type { ServiceRanges } from './service-ranges.ts'

export type Repair =
  | { readonly kind: 'allocate'; readonly address: string; readonly note: RepairNote }
  | { readonly kind: 'release'; readonly object: IPAddress; readonly note: RepairNote }
  /** Nothing can be done automatically. */
  | { readonly kind: 'report'; readonly note: RepairNote }
  | { readonly kind: 'wait'; readonly ms: number }

export interface RepairView {
  readonly nowMs: number
  readonly ranges: ServiceRanges
  /** The ranges of all ServiceCIDRs. */
  readonly cidrs: readonly string[]
  /** The IPAddress of this name. */
  find(address: string): IPAddress | undefined
  /** The IPAddresses of the allocator that name the Service. */
  readonly owned: readonly IPAddress[]
}

/** Another server may create the IPAddress first and its Service later. */
const leakedAfterMs = 60_000

export function repairsOf(key: ObjectKey, object: Service | undefined, view: RepairView): Repair[] {
  const addresses = object === undefined ? [] : (object.spec.clusterIPs ?? []).filter((each) => each !== 'None')
  const names = addresses.filter(isIp).map(canonical)
  return [
    ...addresses.flatMap((address) => addressRepairs(key, address, view)),
    ...view.owned
      .filter(({ metadata }) => !names.includes(metadata.name))
      .map((leaked) => surplusRepair(key, object, leaked, view)),
    ...(object === undefined ? [] : portRepairs(object, view.ranges)),
  ]
}

const parse = (address: string): Cidr => parseCidr(`${address}/${isIpV6(address) ? 128 : 32}`)
const canonical = (address: string): string => {
  const { family, address: bits } = parse(address)
  return addressText(family, bits)
}

function addressRepairs(key: ObjectKey, address: string, { find, cidrs }: RepairView): Repair[] {
  if (!isIp(address))
    return [report('ClusterIPNotValid', `Cluster IP ${address} is not a valid IP; please recreate service`)]
  const cidr = parse(address)
  const name = canonical(address)
  const found = find(name)
  const problems: Repair[] = []
  if (cidrs.length > 0 && !cidrs.some((range) => containsCidr(parseCidr(range), cidr)))
    problems.push(
      report(
        'ClusterIPOutOfRange',
        `Cluster IP [${cidr.family}]: ${address} is not within any configured Service CIDR; please recreate service`,
      ),
    )
  if (found === undefined)
    problems.push({
      kind: 'allocate',
      address,
      note: addressNote('ClusterIPNotAllocated', `Cluster IP [${cidr.family}]: ${address} is not allocated; repairing`),
    })
  else if (addressOwner(found) !== key)
    problems.push(
      report(
        'ClusterIPAlreadyAllocated',
        `Cluster IP [${cidr.family}]:${address} was assigned to multiple services; please recreate service`,
      ),
    )
  return problems
}

function surplusRepair(key: ObjectKey, object: Service | undefined, leaked: IPAddress, { nowMs }: RepairView): Repair {
  const { namespace, name } = splitKey(key)
  const text = `IPAddress: ${leaked.metadata.name} for Service ${namespace}/${name}`
  if (object !== undefined)
    return {
      kind: 'release',
      object: leaked,
      note: addressNote('IPAddressWrongReference', `${text} has a wrong reference; cleaning up`),
    }
  const ms = Date.parse(leaked.metadata.creationTimestamp) + leakedAfterMs - nowMs
  if (ms > 0) return { kind: 'wait', ms }
  return {
    kind: 'release',
    object: leaked,
    note: addressNote('IPAddressNotAllocated', `${text} appears to have leaked: cleaning up`),
  }
}

const portRepairs = (object: Service, { nodePorts: { first, last } }: ServiceRanges): Repair[] =>
  nodePortsOf(object)
    .filter((port) => port < first || port > last)
    .map((port) => ({
      kind: 'report',
      note: {
        reason: 'PortOutOfRange',
        message: `Port ${port} is not within the port range ${first}-${last}; please recreate service`,
        component: 'portallocator-repair-controller',
      },
    }))

const addressNote = (reason: string, message: string): RepairNote => ({
  reason,
  message,
  component: 'ipallocator-repair-controller',
})

const report = (reason: string, message: string): Repair => ({ kind: 'report', note: addressNote(reason, message) })
