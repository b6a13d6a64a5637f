// The addresses that a node may announce, and its place among the nodes that may: a pure function of the cluster's objects.
import { isNodeReady, type Node } from '../../api/core/v1/node/node.ts'
import type { Service } from '../../api/core/v1/service/service.ts'
import type { EndpointSlice } from '../../api/discovery/v1/endpoint-slice.ts'
import { serviceNameLabel } from '../../api/discovery/v1/endpoint-slice-labels.ts'
import { isBeingDeleted, keyOf, objectKey, type ObjectKey } from '../../api/meta/object.ts'
import { lookup } from '../../base/collections/lookup.ts'
import { addressBits, type IpAddress } from '../../base/net/ip-address.ts'
import { parseIpsSloppy } from '../../base/net/sloppy-address.ts'
import { isExcluded, isToBeDeleted } from '../service/balanced-nodes.ts'
import { isPooled, type AddressPool } from './address-pool.ts'

export interface AnnouncerView {
  readonly services: Iterable<Service>
  readonly slices: Iterable<EndpointSlice>
  readonly nodes: Iterable<Node>
  readonly nodeName: string
  readonly pool: AddressPool
}

export interface Announceable {
  /** A Service with the address. */
  readonly service: ObjectKey
  /** The place of this node; the first node takes part in the election immediately, so that addresses are spread. */
  readonly rank: number
}

export function announceableAddresses(view: AnnouncerView): ReadonlyMap<IpAddress, Announceable> {
  const { pool, nodeName } = view
  const names = [...view.nodes]
    .filter((node) => isNodeReady(node) && !isExcluded(node) && !isToBeDeleted(node))
    .map(({ metadata }) => metadata.name)
    .toSorted()
  const found = new Map<IpAddress, Announceable>()
  if (!names.includes(nodeName)) return found
  const endpointNodes = localNodes(view.slices)
  for (const service of view.services) {
    if (!isPooled(service) || isBeingDeleted(service)) continue
    const key = keyOf(service)
    const isLocal = service.spec.externalTrafficPolicy === 'Local'
    const candidates = isLocal ? names.filter((name) => endpointNodes.get(key)?.has(name) === true) : names
    if (!candidates.includes(nodeName)) continue
    const addresses = (service.status.loadBalancer?.ingress ?? []).map(({ ip = '' }) => ip)
    for (const address of parseIpsSloppy(addresses))
      if (pool.contains(address)) found.set(address, { service: key, rank: rankOf(nodeName, candidates, address) })
  }
  return found
}

/** Consecutive addresses have different nodes at the first place. */
function rankOf(name: string, candidates: readonly string[], address: IpAddress): number {
  const count = candidates.length
  return (candidates.indexOf(name) + count - Number(addressBits(address) % BigInt(count))) % count
}

/** The nodes with ready endpoints of each Service. */
function localNodes(slices: Iterable<EndpointSlice>): ReadonlyMap<ObjectKey, ReadonlySet<string>> {
  const found = new Map<ObjectKey, Set<string>>()
  for (const { metadata, endpoints } of slices) {
    const key = objectKey(metadata.namespace ?? '', lookup(metadata.labels, serviceNameLabel) ?? '')
    const names = found.get(key) ?? new Set()
    found.set(key, names)
    for (const { nodeName, conditions } of endpoints ?? [])
      if (nodeName !== undefined && conditions?.ready !== false) names.add(nodeName)
  }
  return found
}
