// EndpointSlice: the pods behind each Service, in slices that proxies and DNS follow.
import { node, type Node } from '../../api/core/v1/node.ts'
import type { Pod } from '../../api/core/v1/pod.ts'
import { service, type Service } from '../../api/core/v1/service.ts'
import { endpointSlice } from '../../api/discovery/v1/endpoint-slice.ts'
import type { Endpoint, EndpointPort } from '../../api/discovery/v1/endpoint.ts'
import { isBeingDeleted, keyOf } from '../../api/object.ts'
import { defineController, type PlanView } from '../controller.ts'
import {
  addressesOf,
  familiesOf,
  hasSelector,
  hostnameOf,
  isHeadless,
  isReadyEndpoint,
  isServing,
  podPort,
  podsOfServices,
  selectedPods,
  type AddressFamily,
} from './pod-endpoints.ts'
import { sliceChanges, type EndpointGroup, type SliceLook } from './slices.ts'

export const serviceNameLabel = 'kubernetes.io/service-name'
export const managedByLabel = 'endpointslice.kubernetes.io/managed-by'
export const headlessLabel = 'service.kubernetes.io/headless'
const zoneLabel = 'topology.kubernetes.io/zone'

export const endpointSliceController = defineController<Service>({
  name: 'endpoint-slice',
  account: 'endpointslice-controller',
  reconciles: service,
  owns: [endpointSlice],
  reads: [
    podsOfServices,
    {
      kind: node,
      wakes: ({ now, before }, { all }) =>
        now?.metadata.labels?.[zoneLabel] === before?.metadata.labels?.[zoneLabel] ? [] : all(service).map(keyOf),
    },
  ],
  plan(object, view) {
    if (!hasSelector(object) || isBeingDeleted(object)) return { changes: [] }
    const pods = selectedPods(object, view)
    const groups = familiesOf(object).flatMap((family) => groupsOf(object, pods, family, view))
    return { changes: sliceChanges(view.owned(endpointSlice), groups, lookOf(object)) }
  },
})

const lookOf = (object: Service): SliceLook => ({
  generateName: `${object.metadata.name}-`,
  labels: {
    ...object.metadata.labels,
    [serviceNameLabel]: object.metadata.name,
    [managedByLabel]: 'endpointslice-controller.k8s.io',
    ...(isHeadless(object) ? { [headlessLabel]: '' } : {}),
  },
})

/** One group for each set of ports: a named port may be another number on each pod. */
function groupsOf(object: Service, pods: readonly Pod[], family: AddressFamily, view: PlanView): EndpointGroup[] {
  const groups = new Map<string, { ports: EndpointPort[]; endpoints: Endpoint[] }>()
  for (const pod of pods) {
    const addresses = addressesOf(pod, family)
    if (addresses.length === 0) continue
    const ports = portsOf(object, pod)
    const key = JSON.stringify(ports)
    const group = groups.get(key) ?? { ports, endpoints: [] }
    group.endpoints.push(endpointOf(object, pod, addresses, view))
    groups.set(key, group)
  }
  if (groups.size === 0) return [{ addressType: family, ports: [], endpoints: [] }]
  return [...groups.values()].map((group) => ({ addressType: family, ...group }))
}

const portsOf = ({ spec }: Service, pod: Pod): EndpointPort[] =>
  (spec.ports ?? []).flatMap((each) => {
    const port = podPort(pod, each)
    if (port === undefined) return []
    const { name = '', protocol, appProtocol } = each
    return [{ name, protocol, port, ...(appProtocol === undefined ? {} : { appProtocol }) }]
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
    ...(ready ? hintsOf(object, zone, nodeName) : {}),
  }
}

/** Where traffic should come from, when the Service prefers its own zone or node. */
function hintsOf({ spec }: Service, zone: string | undefined, nodeName: string | undefined): Pick<Endpoint, 'hints'> {
  const { trafficDistribution: preference } = spec
  if (preference === undefined || zone === undefined) return {}
  const forZones = [{ name: zone }]
  return preference === 'PreferSameNode' && nodeName !== undefined
    ? { hints: { forZones, forNodes: [{ name: nodeName }] } }
    : { hints: { forZones } }
}
