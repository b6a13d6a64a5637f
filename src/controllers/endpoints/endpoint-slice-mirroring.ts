// EndpointSliceMirroring: copies manually created Endpoints of Services without a selector to EndpointSlices.
import { endpoints, type Endpoints } from '../../api/core/v1/service/endpoints.ts'
import type { EndpointAddress, EndpointSubset } from '../../api/core/v1/service/endpoint-subset.ts'
import { service } from '../../api/core/v1/service/service.ts'
import { endpointSlice } from '../../api/discovery/v1/endpoint-slice.ts'
import type { Endpoint } from '../../api/discovery/v1/endpoint.ts'
import { isBeingDeleted, keyOf } from '../../api/meta/object.ts'
import type { EventNote } from '../../client/events/event-recorder.ts'
import { defineController, type PlanView } from '../runtime/controller.ts'
import { serviceNameLabel, triggerTimeAnnotation } from '../../api/discovery/v1/endpoint-slice-labels.ts'
import { familyOf, type AddressFamily } from '../../base/net/address-family.ts'
import { managedByLabel } from './endpoint-slice.ts'
import { hasSelector } from './pod-endpoints.ts'
import { sliceChanges, type EndpointGroup } from './slice-changes.ts'

const skipLabel = 'endpointslice.kubernetes.io/skip-mirror'
const leaderAnnotation = 'control-plane.alpha.kubernetes.io/leader'
const notMirrored = new Set(['kubectl.kubernetes.io/last-applied-configuration', triggerTimeAnnotation])
/** Addresses of one subset beyond this number are not mirrored. A slice has as many. */
const addressesPerSubsetMax = 1000

export const endpointSliceMirroringController = defineController<Endpoints>({
  name: 'endpoint-slice-mirroring',
  account: 'endpointslicemirroring-controller',
  component: 'endpoint-slice-mirroring-controller',
  reconciles: endpoints,
  owns: [endpointSlice],
  watches: [{ kind: service, enqueues: ({ key }) => [key] }],
  plan(object, view) {
    if (isBeingDeleted(object)) return { changes: [] }
    const groups = isMirrored(object, view) ? mergedGroups(object.subsets ?? []) : []
    const owned = view.owned(endpointSlice)
    // The usual case. Objects may have tens of thousands of labels, which would be copied for nothing.
    if (groups.length === 0 && owned.length === 0) return { changes: [] }
    const { labels, annotations = {} } = object.metadata
    const copied = Object.entries(annotations).filter(([name]) => !notMirrored.has(name))
    const sliceMetadata = {
      generateName: `${object.metadata.name}-`,
      labels: {
        ...labels,
        [serviceNameLabel]: object.metadata.name,
        [managedByLabel]: 'endpointslicemirroring-controller.k8s.io',
      },
      ...(copied.length === 0 ? {} : { annotations: Object.fromEntries(copied) }),
      endpointsPerSliceMax: addressesPerSubsetMax,
    }
    const changes = sliceChanges(owned, groups, sliceMetadata)
    return { changes, events: groups.length === 0 ? [] : skippedEvents(object.subsets ?? []) }
  },
  measure: ({ seconds }, { endpointSlices }) => endpointSlices.mirrored(seconds),
})

function isMirrored(object: Endpoints, { find }: PlanView): boolean {
  const { labels, annotations } = object.metadata
  if (labels?.[skipLabel] === 'true' || annotations?.[leaderAnnotation] !== undefined) return false
  const found = find(service, keyOf(object))
  return found !== undefined && !hasSelector(found)
}

/** Reports how many addresses are not mirrored. */
function skippedEvents(subsets: readonly EndpointSubset[]): EventNote[] {
  const skipped = subsets.reduce(
    (sum, { addresses = [], notReadyAddresses = [] }) =>
      sum + Math.max(0, addresses.length + notReadyAddresses.length - addressesPerSubsetMax),
    0,
  )
  if (skipped === 0) return []
  const message = `A max of ${addressesPerSubsetMax} addresses can be mirrored to EndpointSlices per Endpoints subset. ${skipped} addresses were skipped`
  return [{ type: 'Warning', reason: 'TooManyAddressesToMirror', message }]
}

/** One group for each address family and set of ports. */
function mergedGroups(subsets: readonly EndpointSubset[]): EndpointGroup[] {
  const groups = new Map<string, EndpointGroup & { endpoints: Endpoint[] }>()
  for (const { addresses = [], notReadyAddresses = [], ports = [] } of subsets) {
    const slicePorts = ports.map(({ name = '', port, protocol, appProtocol }) => ({
      name,
      port,
      protocol,
      ...(appProtocol === undefined ? {} : { appProtocol }),
    }))
    const all = [
      ...addresses.map((address) => ({ address, ready: true })),
      ...notReadyAddresses.map((address) => ({ address, ready: false })),
    ].slice(0, addressesPerSubsetMax)
    for (const { address, ready } of all) {
      const addressType: AddressFamily = familyOf(address.ip)
      const key = `${addressType} ${JSON.stringify(slicePorts)}`
      const group = groups.get(key) ?? { addressType, ports: slicePorts, endpoints: [] }
      group.endpoints.push(endpointOf(address, ready))
      groups.set(key, group)
    }
  }
  return [...groups.values()]
}

const endpointOf = ({ ip, hostname, nodeName, targetRef }: EndpointAddress, ready: boolean): Endpoint => ({
  addresses: [ip],
  conditions: { ready },
  ...(hostname === undefined ? {} : { hostname }),
  ...(nodeName === undefined ? {} : { nodeName }),
  ...(targetRef === undefined ? {} : { targetRef }),
})
