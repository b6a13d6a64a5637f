// Endpoints: the pods of each Service in the deprecated API, for clients that still use it.
import { endpoints, type Endpoints } from '../../api/core/v1/service/endpoints.ts'
import type { EndpointAddress, EndpointPort, EndpointSubset } from '../../api/core/v1/service/endpoint-subset.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { service, type Service } from '../../api/core/v1/service/service.ts'
import { isBeingDeleted, keyOf } from '../../api/meta/object.ts'
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import { equalValues } from '../../schema/json/json-value.ts'
import { defineController, type Change } from '../runtime/controller.ts'
import { headlessLabel, triggerTimeAnnotation } from '../../api/discovery/v1/endpoint-slice-labels.ts'
import {
  addressesOf,
  familiesOf,
  hasSelector,
  hostnameOf,
  isHeadless,
  isReadyEndpoint,
  podsOfServices,
  selectedPods,
} from './pod-endpoints.ts'
import { ServicePorts, type PodPort } from './service-ports.ts'
import { triggerTime, type ObservedTimes } from './trigger-time.ts'

const managedByLabel = 'endpoints.kubernetes.io/managed-by'
const overCapacityAnnotation = 'endpoints.kubernetes.io/over-capacity'
/** Larger objects would make every update expensive for all watchers. */
const addressesMax = 1000

export const endpointsController = defineController<Service>({
  name: 'endpoints',
  account: 'endpoint-controller',
  reconciles: service,
  owns: [],
  watches: [podsOfServices, { kind: endpoints, enqueues: ({ key }) => [key] }],
  plan(object, view) {
    if (!hasSelector(object) || isBeingDeleted(object)) return { changes: [] }
    const pods = selectedPods(object, view).filter(
      (pod) => (object.spec.publishNotReadyAddresses ?? false) || !isBeingDeleted(pod),
    )
    const { subsets, isTruncated } = truncated(subsetsOf(object, pods))
    const { at, seen } = triggerTime(object, pods, view.state as ObservedTimes | undefined)
    return { changes: write(object, view.find(endpoints, keyOf(object)), subsets, isTruncated, at), nextState: seen }
  },
  // Endpoints have no owner reference. Manually created ones are deleted with their Service; without a Service they
  // stay.
  leftovers(key, view, last) {
    const existing = view.find(endpoints, key)
    const isOwn = existing?.metadata.labels?.[managedByLabel] === 'endpoint-controller'
    return existing === undefined || (last === undefined && !isOwn)
      ? []
      : [{ kind: 'delete', of: endpoints, object: existing }]
  },
})

/** An address of a pod. */
interface Row {
  readonly address: EndpointAddress
  readonly isReady: boolean
}

/** Ports that have the same addresses. */
interface PortGroup {
  readonly rows: readonly (readonly Row[])[]
  readonly ports: EndpointPort[]
}

/**
 * As upstream: ports with the same addresses share a subset. The order is deterministic, so equal pods give an equal object.
 * Pods with the same ports are taken together, so that a port does not cost a step for every pod.
 */
function subsetsOf(object: Service, pods: readonly Pod[]): EndpointSubset[] {
  const byPorts = new Map<readonly PodPort[], Row[]>()
  const servicePorts = new ServicePorts(object)
  for (const pod of pods) {
    const row = rowOf(object, pod)
    if (row !== undefined) getOrInsert(byPorts, servicePorts.on(pod), () => []).push(row)
  }
  if ((object.spec.ports ?? []).length === 0)
    return byPorts.size === 0 ? [] : [subsetOf({ rows: [...byPorts.values()], ports: [] })]
  const [only, ...others] = byPorts
  if (only === undefined) return []
  if (others.length === 0)
    return only[0].length === 0 ? [] : [subsetOf({ rows: [only[1]], ports: only[0].map(subsetFormOf) })]
  const byPort = new Map<string, { readonly port: PodPort; readonly rows: (readonly Row[])[]; id: string }>()
  let group = 0
  for (const [ports, rows] of byPorts) {
    group++
    for (const port of ports) {
      const found = getOrInsert(byPort, `${port.index} ${port.number}`, () => ({ port, rows: [], id: '' }))
      found.rows.push(rows)
      found.id += ` ${group}`
    }
  }
  const groups = new Map<string, PortGroup>()
  for (const { id, port, rows } of byPort.values())
    getOrInsert(groups, id, () => ({ rows, ports: [] })).ports.push(subsetFormOf(port))
  return [...groups.values()].map(subsetOf)
}

function subsetOf({ rows, ports }: PortGroup): EndpointSubset {
  const members = rows.flat().toSorted((a, b) => (a.address.ip < b.address.ip ? -1 : 1))
  const ready = members.filter(({ isReady }) => isReady).map(({ address }) => address)
  const notReady = members.filter(({ isReady }) => !isReady).map(({ address }) => address)
  return {
    ...(ready.length === 0 ? {} : { addresses: ready }),
    ...(notReady.length === 0 ? {} : { notReadyAddresses: notReady }),
    ...(ports.length === 0 ? {} : { ports }),
  }
}

function rowOf(object: Service, pod: Pod): Row | undefined {
  const [ip] = addressesOf(pod, familiesOf(object)[0] ?? 'IPv4')
  if (ip === undefined) return undefined
  const { name, namespace = '', uid } = pod.metadata
  const { nodeName } = pod.spec
  const hostname = hostnameOf(object, pod)
  const address: EndpointAddress = {
    ip,
    ...(hostname === undefined ? {} : { hostname }),
    ...(nodeName === undefined ? {} : { nodeName }),
    targetRef: { kind: 'Pod', namespace, name, uid },
  }
  return { address, isReady: isReadyEndpoint(object, pod) }
}

const subsetFormOf = ({ of: { name, protocol, appProtocol }, number }: PodPort): EndpointPort => ({
  ...(name === undefined ? {} : { name }),
  port: number,
  protocol,
  ...(appProtocol === undefined ? {} : { appProtocol }),
})

/**
 * As upstream: addresses that are not ready are omitted first. Each subset keeps its share of what remains, rounded up while
 * there is room.
 */
function truncated(subsets: readonly EndpointSubset[]): { subsets: readonly EndpointSubset[]; isTruncated: boolean } {
  const count = (field: 'addresses' | 'notReadyAddresses') =>
    subsets.reduce((sum, subset) => sum + (subset[field]?.length ?? 0), 0)
  const ready = count('addresses')
  const notReady = count('notReadyAddresses')
  if (ready + notReady <= addressesMax) return { subsets, isTruncated: false }
  const isReadyCut = ready > addressesMax
  const [field, total, room] = isReadyCut
    ? (['addresses', ready, addressesMax] as const)
    : (['notReadyAddresses', notReady, addressesMax - ready] as const)
  let left = room
  const kept = subsets.map(({ addresses = [], notReadyAddresses = [], ...ports }) => {
    const all = isReadyCut ? addresses : notReadyAddresses
    const taken = all.slice(0, Math.min(left, Math.ceil((all.length / total) * room)))
    left -= taken.length
    const rest = isReadyCut || addresses.length === 0 ? {} : { addresses }
    return { ...ports, ...rest, ...(taken.length === 0 ? {} : { [field]: taken }) }
  })
  return { subsets: kept, isTruncated: true }
}

/** Creates or updates the Endpoints; nothing if only the trigger time differs. */
function write(
  object: Service,
  existing: Endpoints | undefined,
  subsets: readonly EndpointSubset[],
  isTruncated: boolean,
  trigger: string | undefined,
): Change[] {
  const { name } = object.metadata
  const labels = {
    ...object.metadata.labels,
    [managedByLabel]: 'endpoint-controller',
    ...(isHeadless(object) ? { [headlessLabel]: '' } : {}),
  }
  const body = subsets.length === 0 ? {} : { subsets }
  const capacity = isTruncated ? 'truncated' : undefined
  const annotations = annotationsFor(existing, capacity, trigger)
  if (existing === undefined) {
    const created = { metadata: { name, labels, ...annotations, ownerReferences: [] }, ...body }
    const failureEvent = failedEvent('FailedToCreateEndpoint', `Failed to create endpoint for service ${keyOf(object)}`)
    return [{ kind: 'create', of: endpoints, object: created, failureEvent }]
  }
  const isSame =
    equalValues(existing.subsets ?? [], subsets) &&
    equalValues(existing.metadata.labels ?? {}, labels) &&
    existing.metadata.annotations?.[overCapacityAnnotation] === capacity
  if (isSame) return []
  const { annotations: _, ...metadata } = existing.metadata
  const { subsets: __, ...rest } = existing
  const updated = { ...rest, metadata: { ...metadata, labels, ...annotations }, ...body }
  const failureEvent = failedEvent('FailedToUpdateEndpoint', `Failed to update endpoint ${keyOf(object)}`)
  return [{ kind: 'update', of: endpoints, object: updated, failureEvent }]
}

const failedEvent =
  (reason: string, action: string): NonNullable<Change['failureEvent']> =>
  ({ message }) => ({ type: 'Warning', reason, message: `${action}: ${message}` })

function annotationsFor(existing: Endpoints | undefined, capacity: string | undefined, trigger: string | undefined) {
  const { [overCapacityAnnotation]: _, [triggerTimeAnnotation]: __, ...others } = existing?.metadata.annotations ?? {}
  const annotations = {
    ...others,
    ...(capacity === undefined ? {} : { [overCapacityAnnotation]: capacity }),
    ...(trigger === undefined ? {} : { [triggerTimeAnnotation]: trigger }),
  }
  return Object.keys(annotations).length === 0 ? {} : { annotations }
}
