// What is wrong with the addresses and ports of one Service, as data: IPAddresses that are missing, leaked or refer to the
// wrong Service, and values that no configured range contains. ServiceRepair acts on it.
import { familyOf } from '../../../base/net/address-family.ts'
import { cidrHasAddress, type Cidr } from '../../../base/net/cidr.ts'
import type { IpAddress } from '../../../base/net/ip-address.ts'
import { parseIpSloppy, parseIpsSloppy } from '../../../base/net/sloppy-address.ts'
import type { Service } from '../../../api/core/v1/service/service.ts'
import type { IPAddress } from '../../../api/networking/v1/ip-address.ts'
import { splitKey, type ObjectKey } from '../../../api/meta/object.ts'
import { addressOwner } from './cluster-addresses.ts'
import { nodePortsOf } from './node-ports.ts'
import type { RepairNote } from './repair-event.ts'
import type { ServiceRanges } from './service-ranges.ts'

export type Repair =
  | { readonly kind: 'allocate'; readonly address: IpAddress; readonly note: RepairNote }
  | { readonly kind: 'release'; readonly object: IPAddress; readonly note: RepairNote }
  /** Nothing can be done automatically. */
  | { readonly kind: 'report'; readonly note: RepairNote }
  | { readonly kind: 'wait'; readonly ms: number }

export interface RepairView {
  readonly nowMs: number
  readonly ranges: ServiceRanges
  /** The ranges of all ServiceCIDRs. */
  readonly cidrs: readonly Cidr[]
  /** The IPAddress of this name. */
  find(address: IpAddress): IPAddress | undefined
  /** The IPAddresses of the allocator that name the Service. */
  readonly owned: readonly IPAddress[]
}

/** Another server may create the IPAddress first and its Service later. */
const leakedAfterMs = 60_000

export function repairsOf(key: ObjectKey, object: Service | undefined, view: RepairView): Repair[] {
  const addresses = object === undefined ? [] : (object.spec.clusterIPs ?? []).filter((each) => each !== 'None')
  const names: readonly string[] = parseIpsSloppy(addresses)
  return [
    ...addresses.flatMap((address) => addressRepairs(key, address, view)),
    ...view.owned
      .filter(({ metadata }) => !names.includes(metadata.name))
      .map((leaked) => surplusRepair(key, object, leaked, view)),
    ...(object === undefined ? [] : portRepairs(object, view.ranges)),
  ]
}

function addressRepairs(key: ObjectKey, text: string, { find, cidrs }: RepairView): Repair[] {
  const address = parseIpSloppy(text)
  if (address === undefined)
    return [report('ClusterIPNotValid', `Cluster IP ${text} is not a valid IP; please recreate service`)]
  const family = familyOf(address)
  const found = find(address)
  const problems: Repair[] = []
  if (cidrs.length > 0 && !cidrs.some((cidr) => cidrHasAddress(cidr, address)))
    problems.push(
      report(
        'ClusterIPOutOfRange',
        `Cluster IP [${family}]: ${text} is not within any configured Service CIDR; please recreate service`,
      ),
    )
  if (found === undefined)
    problems.push({
      kind: 'allocate',
      address,
      note: addressNote('ClusterIPNotAllocated', `Cluster IP [${family}]: ${text} is not allocated; repairing`),
    })
  else if (addressOwner(found) !== key)
    problems.push(
      report(
        'ClusterIPAlreadyAllocated',
        `Cluster IP [${family}]:${text} was assigned to multiple services; please recreate service`,
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
