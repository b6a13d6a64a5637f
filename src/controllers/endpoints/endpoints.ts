// Endpoints: the pods of each Service in the deprecated API, for clients that still use it.
import { endpoints, type Endpoints } from '../../api/core/v1/service/endpoints.ts'
import type { EndpointAddress, EndpointPort, EndpointSubset } from '../../api/core/v1/service/endpoint-subset.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { service, type Service } from '../../api/core/v1/service/service.ts'
import { isBeingDeleted, keyOf } from '../../api/meta/object.ts'
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
  podPort,
  podsOfServices,
  selectedPods,
} from './pod-endpoints.ts'
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

/** An address at one port. */
interface Row {
  readonly port: EndpointPort | undefined
  readonly address: EndpointAddress
  readonly isReady: boolean
}

/** As upstream: ports with the same addresses share a subset. The order is deterministic, so equal pods give an equal object. */
function subsetsOf(object: Service, pods: readonly Pod[]): EndpointSubset[] {
  const rows = pods.flatMap((pod) => rowsOf(object, pod))
  const byPort = [...Map.groupBy(rows, ({ port }) => JSON.stringify(port ?? '')).values()].map((members) =>
    members.toSorted((a, b) => (a.address.ip < b.address.ip ? -1 : 1)),
  )
  const byAddresses = Map.groupBy(byPort, (members) =>
    JSON.stringify(members.map(({ address, isReady }) => [address, isReady])),
  )
  return [...byAddresses.values()].map((groups) => {
    const members = groups[0] ?? []
    const ready = members.filter(({ isReady }) => isReady).map(({ address }) => address)
    const notReady = members.filter(({ isReady }) => !isReady).map(({ address }) => address)
    const ports = groups.flatMap(([first]) => first?.port ?? [])
    return {
      ...(ready.length === 0 ? {} : { addresses: ready }),
      ...(notReady.length === 0 ? {} : { notReadyAddresses: notReady }),
      ...(ports.length === 0 ? {} : { ports }),
    }
  })
}

function rowsOf(object: Service, pod: Pod): Row[] {
  const [ip] = addressesOf(pod, familiesOf(object)[0] ?? 'IPv4')
  if (ip === undefined) return []
  const { name, namespace = '', uid } = pod.metadata
  const { nodeName } = pod.spec
  const hostname = hostnameOf(object, pod)
  const address: EndpointAddress = {
    ip,
    ...(hostname === undefined ? {} : { hostname }),
    ...(nodeName === undefined ? {} : { nodeName }),
    targetRef: { kind: 'Pod', namespace, name, uid },
  }
  const isReady = isReadyEndpoint(object, pod)
  const { ports = [] } = object.spec
  if (ports.length === 0) return [{ port: undefined, address, isReady }]
  return ports.flatMap((each): Row[] => {
    const port = podPort(pod, each)
    const { name: portName, protocol, appProtocol } = each
    if (port === undefined) return []
    const offered = {
      ...(portName === undefined ? {} : { name: portName }),
      port,
      protocol,
      ...(appProtocol === undefined ? {} : { appProtocol }),
    }
    return [{ port: offered, address, isReady }]
  })
}

/**
 * As upstream: addresses that are not ready are omitted first. Each subset keeps its share of what remains, rounded up while
 * there is room.
 */
function truncated(subsets: readonly EndpointSubset[]): { subsets: readonly EndpointSubset[]; isTruncated: boolean } {
  const count = (field: 'addresses' | 'notReadyAddresses') =>
    subsets.reduce((sum, subset) => sum + (subset[field]?.length ?? 0), 0)
  const [ready, notReady] = [count('addresses'), count('notReadyAddresses')]
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
