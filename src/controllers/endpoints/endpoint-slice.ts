// EndpointSlice: the pods of each Service, in slices that proxies and DNS servers watch.
import { zoneLabel } from '../../api/core/v1/node/node-labels.ts'
import { node, type Node } from '../../api/core/v1/node/node.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { service, type Service } from '../../api/core/v1/service/service.ts'
import { endpointSlice } from '../../api/discovery/v1/endpoint-slice.ts'
import { headlessLabel, serviceNameLabel } from '../../api/discovery/v1/endpoint-slice-labels.ts'
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import type { AddressFamily } from '../../base/net/address-family.ts'
import type { Endpoint, EndpointHints, EndpointPort } from '../../api/discovery/v1/endpoint.ts'
import { isBeingDeleted, keyOf } from '../../api/meta/object.ts'
import type { EventNote } from '../../client/events/event-recorder.ts'
import type { SliceSync } from '../metrics/endpoint-slice-metrics.ts'
import { defineController, type PlanView } from '../runtime/controller.ts'
import {
  addressesOf,
  familiesOf,
  hasSelector,
  hostnameOf,
  isHeadless,
  isReadyEndpoint,
  isServing,
  podsOfServices,
  selectedPods,
} from './pod-endpoints.ts'
import { ServicePorts, type PodPort } from './service-ports.ts'
import { sliceChanges, type EndpointGroup, type SliceMetadata } from './slice-changes.ts'
import { sliceSync } from './slice-sync.ts'
import { autoZones, isAuto, isTopologyChange, preferredHints } from './topology-hints.ts'
import { triggerTime, type ObservedTimes } from './trigger-time.ts'

export const managedByLabel = 'endpointslice.kubernetes.io/managed-by'

/** Passed from one plan to the next. */
interface EndpointSliceState {
  readonly seen: ObservedTimes
  /** Address families whose endpoints have hints from the topology mode `Auto`. */
  readonly hinted: readonly AddressFamily[]
  readonly sync: SliceSync
}

export const endpointSliceController = defineController<Service>({
  name: 'endpoint-slice',
  account: 'endpointslice-controller',
  component: 'endpoint-slice-controller',
  reconciles: service,
  owns: [endpointSlice],
  watches: [
    podsOfServices,
    {
      kind: node,
      enqueues({ now, before }, { all }) {
        if (now?.metadata.labels?.[zoneLabel] !== before?.metadata.labels?.[zoneLabel]) return all(service).map(keyOf)
        const isChanged = isTopologyChange(now as Node | undefined, before as Node | undefined)
        return isChanged ? all(service).filter(isAuto).map(keyOf) : []
      },
    },
  ],
  plan(object, view) {
    if (!hasSelector(object) || isBeingDeleted(object)) return { changes: [] }
    const last = view.state as EndpointSliceState | undefined
    const pods = selectedPods(object, view)
    const { at, seen } = triggerTime(object, pods, last?.seen)
    const hinted: AddressFamily[] = []
    const events: EventNote[] = []
    const groups = familiesOf(object).flatMap((family) => {
      const found = groupsOf(object, pods, family, view)
      const hinting = hintedGroups(object, found, view)
      if (hinting.isHinted) hinted.push(family)
      events.push(...eventsFor(object, family, hinting, last?.hinted.includes(family) ?? false))
      return hinting.groups
    })
    const existing = view.owned(endpointSlice)
    const changes = sliceChanges(existing, groups, { ...sliceMetadata(object), trigger: at })
    const sync = sliceSync(object, existing, groups, changes)
    return { changes, events, nextState: { seen, hinted, sync } satisfies EndpointSliceState }
  },
  measure({ object, plan, failure }, { endpointSlices: metrics }) {
    if (failure !== undefined) return metrics.failed()
    metrics.synced(keyOf(object), (plan.nextState as EndpointSliceState | undefined)?.sync)
  },
  measureDeletion: (key, { endpointSlices }) => endpointSlices.deleted(key),
})

interface HintedGroups {
  readonly groups: readonly EndpointGroup[]
  readonly isHinted: boolean
  /** Why there are no hints although the mode is `Auto`. */
  readonly why?: string
}

function hintedGroups(object: Service, groups: readonly EndpointGroup[], { all }: PlanView): HintedGroups {
  if (!isAuto(object))
    return { groups: groups.map((group) => withHints(group, (each) => preferredHints(object, each))), isHinted: false }
  const ready = groups.flatMap(({ endpoints }) => endpoints).filter(isReady)
  const found = autoZones(ready, all(node))
  if (found.kind === 'none') return { groups, isHinted: false, why: found.why }
  const zones = new Map(ready.map((endpoint, index) => [endpoint, found.zones[index] ?? '']))
  const hintsOf = (endpoint: Endpoint) => ({ forZones: [{ name: zones.get(endpoint) ?? '' }] })
  return { groups: groups.map((group) => withHints(group, hintsOf)), isHinted: true }
}

const isReady = ({ conditions: { ready } }: Endpoint): boolean => ready === true

const withHints = (
  group: EndpointGroup,
  hintsOf: (endpoint: Endpoint) => EndpointHints | undefined,
): EndpointGroup => ({
  ...group,
  endpoints: group.endpoints.map((endpoint) => {
    const hints = isReady(endpoint) ? hintsOf(endpoint) : undefined
    return hints === undefined ? endpoint : { ...endpoint, hints }
  }),
})

function eventsFor(
  object: Service,
  family: AddressFamily,
  { isHinted, why }: HintedGroups,
  wasHinted: boolean,
): EventNote[] {
  const withFamily = (what: string) => `${what}, addressType: ${family}`
  const disabled = { type: 'Warning', reason: 'TopologyAwareHintsDisabled' } as const
  if (why !== undefined) return [{ ...disabled, message: withFamily(why) }]
  if (!isAuto(object))
    return wasHinted ? [{ ...disabled, message: withFamily('Topology Aware Hints has been disabled') }] : []
  if (wasHinted || !isHinted) return []
  return [
    {
      type: 'Normal',
      reason: 'TopologyAwareHintsEnabled',
      message: withFamily('Topology Aware Hints has been enabled'),
    },
  ]
}

const sliceMetadata = (object: Service): SliceMetadata => ({
  generateName: `${object.metadata.name}-`,
  labels: {
    ...object.metadata.labels,
    [serviceNameLabel]: object.metadata.name,
    [managedByLabel]: 'endpointslice-controller.k8s.io',
    ...(isHeadless(object) ? { [headlessLabel]: '' } : {}),
  },
})

/** One group for each set of port numbers: a named port may have different numbers on different pods. */
function groupsOf(object: Service, pods: readonly Pod[], family: AddressFamily, view: PlanView): EndpointGroup[] {
  const groups = new Map<readonly PodPort[], { ports: EndpointPort[]; endpoints: Endpoint[] }>()
  const ports = new ServicePorts(object)
  for (const pod of pods) {
    const addresses = addressesOf(pod, family)
    if (addresses.length === 0) continue
    const ofPod = ports.on(pod)
    const group = getOrInsert(groups, ofPod, () => ({ ports: ofPod.map(sliceFormOf), endpoints: [] }))
    group.endpoints.push(endpointOf(object, pod, addresses, view))
  }
  if (groups.size === 0) return [{ addressType: family, ports: [], endpoints: [] }]
  return [...groups.values()].map((group) => ({ addressType: family, ...group }))
}

const sliceFormOf = ({ of: { name = '', protocol, appProtocol }, number }: PodPort): EndpointPort => ({
  name,
  protocol,
  port: number,
  ...(appProtocol === undefined ? {} : { appProtocol }),
})

function endpointOf(object: Service, pod: Pod, addresses: readonly string[], { find }: PlanView): Endpoint {
  const { name, namespace = '', uid } = pod.metadata
  const { nodeName } = pod.spec
  const zone = nodeName === undefined ? undefined : find<Node>(node, nodeName)?.metadata.labels?.[zoneLabel]
  const hostname = hostnameOf(object, pod)
  const ready = isReadyEndpoint(object, pod)
  return {
    addresses,
    conditions: { ready, serving: isServing(pod), terminating: isBeingDeleted(pod) },
    targetRef: { kind: 'Pod', namespace, name, uid },
    ...(hostname === undefined ? {} : { hostname }),
    ...(nodeName === undefined ? {} : { nodeName }),
    ...(zone === undefined ? {} : { zone }),
  }
}
