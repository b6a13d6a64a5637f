// Pods as endpoints of a Service: addresses and readiness.
import { isPodFinished, isPodReady } from '../../api/core/v1/pod/pod-readiness.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import type { Service } from '../../api/core/v1/service/service.ts'
import { isBeingDeleted, keyOf, namespaceOf, type ApiObject } from '../../api/meta/object.ts'
import { service } from '../../api/core/v1/service/service.ts'
import { familyOf, type AddressFamily } from '../../base/net/address-family.ts'
import { selects } from '../../api/selectors/selectors.ts'
import { equalValues } from '../../schema/json/json-value.ts'
import type { PlanView, Watch } from '../runtime/controller.ts'
import { pod as podKind } from '../../api/core/v1/pod/pod.ts'

export const addressesOf = ({ status }: Pod, family: AddressFamily): string[] =>
  (status.podIPs ?? (status.podIP === undefined ? [] : [{ ip: status.podIP }]))
    .map(({ ip }) => ip)
    .filter((ip) => familyOf(ip) === family)

/** The address families of a Service, the primary one first. */
export function familiesOf({ spec }: Service): readonly AddressFamily[] {
  if (spec.ipFamilies !== undefined && spec.ipFamilies.length > 0) return spec.ipFamilies as AddressFamily[]
  const { clusterIP } = spec
  return [clusterIP === undefined || clusterIP === 'None' ? 'IPv4' : familyOf(clusterIP)]
}

export const isHeadless = ({ spec }: Service): boolean => spec.clusterIP === 'None'

/** The endpoints of other Services are not managed by these controllers. */
export const hasSelector = ({ spec }: Service): boolean =>
  spec.selector !== undefined && Object.keys(spec.selector).length > 0 && spec.type !== 'ExternalName'

export const selectedPods = (object: Service, { within }: PlanView): Pod[] =>
  within(podKind, namespaceOf(object))
    .filter((pod) => selects({ matchLabels: object.spec.selector ?? {} }, pod.metadata.labels) && !isPodFinished(pod))
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))

export const isServing = (pod: Pod): boolean => isPodReady(pod)
export const isReadyEndpoint = (object: Service, pod: Pod): boolean =>
  (object.spec.publishNotReadyAddresses ?? false) || (isPodReady(pod) && !isBeingDeleted(pod))

/** The DNS name of the pod within a headless Service. */
export const hostnameOf = (object: Service, { metadata, spec }: Pod): string | undefined =>
  spec.hostname !== undefined &&
  spec.subdomain === object.metadata.name &&
  metadata.namespace === object.metadata.namespace
    ? spec.hostname
    : undefined

/** A pod enqueues the Services that select it or did so before, if a field of its endpoint has changed. */
export const podsOfServices: Watch = {
  kind: podKind,
  enqueues({ now, before }, { within }) {
    const changed = (now ?? before) as Pod | undefined
    if (
      changed === undefined ||
      (now !== undefined && before !== undefined && isSameEndpoint(now as Pod, before as Pod))
    )
      return []
    const isSelected = (object: Service, candidate: ApiObject | undefined) =>
      candidate !== undefined && selects({ matchLabels: object.spec.selector ?? {} }, candidate.metadata.labels)
    return within(service, namespaceOf(changed))
      .filter((object) => hasSelector(object) && (isSelected(object, now) || isSelected(object, before)))
      .map(keyOf)
  },
}

const isSameEndpoint = (now: Pod, before: Pod): boolean =>
  now.status.podIP === before.status.podIP &&
  now.status.phase === before.status.phase &&
  now.spec.nodeName === before.spec.nodeName &&
  isPodReady(now) === isPodReady(before) &&
  isBeingDeleted(now) === isBeingDeleted(before) &&
  equalValues(now.status.podIPs, before.status.podIPs) &&
  equalValues(now.metadata.labels, before.metadata.labels)
