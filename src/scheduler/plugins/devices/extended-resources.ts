// Extended resources that device classes stand for: on nodes that do not offer such a resource themselves, a pod that
// asks for it gets devices of the class, by a claim that the scheduler makes for it.
import { lookup } from '../../../base/collections/lookup.ts'
import type { Node } from '../../../api/core/v1/node/node.ts'
import type { Pod } from '../../../api/core/v1/pod/pod.ts'
import { namespaceOf } from '../../../api/meta/object.ts'
import { resourceClaim, type ResourceClaim } from '../../../api/resource/v1/resource-claim.ts'
import { quantityUnits } from '../../../schema/scalar/quantity.ts'

/** What one container asks of one class. */
export interface ExtendedRequest {
  readonly containerName: string
  readonly resourceName: string
  readonly requestName: string
  readonly deviceClassName: string
  readonly count: number
}

const claimAnnotation = 'resource.kubernetes.io/extended-resource-claim'

export function extendedRequests(
  { spec }: Pod,
  classFor: (resource: string) => string | undefined,
): readonly ExtendedRequest[] {
  return [...(spec.initContainers ?? []), ...spec.containers].flatMap(({ name: containerName, resources }, container) =>
    Object.entries(resources.requests ?? {})
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([resourceName, quantity], request) => {
        const [deviceClassName, count] = [classFor(resourceName), quantityUnits(quantity)]
        if (deviceClassName === undefined || count === 0) return []
        const requestName = `container-${container}-request-${request}`
        return [{ containerName, resourceName, requestName, deviceClassName, count }]
      }),
  )
}

/** Those that the node cannot serve with resources of its own. */
export const unservedBy = ({ status }: Node, requests: readonly ExtendedRequest[]): readonly ExtendedRequest[] =>
  requests.filter(({ resourceName }) => quantityUnits(lookup(status.allocatable, resourceName)) === 0)

/** What a claim for them is made with. */
export const extendedMetadata = ({ apiVersion, kind, metadata: { name: owner, uid } }: Pod, name: string) => ({
  name,
  annotations: { [claimAnnotation]: 'true' },
  ownerReferences: [{ apiVersion, kind, name: owner, uid, controller: true, blockOwnerDeletion: true }],
})

/** The claim for them, as it will be made when the pod is bound. */
export function extendedClaim(pod: Pod, name: string, requests: readonly ExtendedRequest[]): ResourceClaim {
  const { apiVersion, kind } = resourceClaim
  const metadata = { name, namespace: namespaceOf(pod), uid: '', resourceVersion: '', creationTimestamp: '' }
  const devices = {
    requests: requests.map(({ requestName, deviceClassName, count }) => ({
      name: requestName,
      exactly: { deviceClassName, allocationMode: 'ExactCount' as const, count },
    })),
  }
  return { apiVersion, kind, metadata, spec: { devices }, status: {} }
}

/** What the pod's status says of the claim. */
export const extendedStatus = (resourceClaimName: string, requests: readonly ExtendedRequest[]) => ({
  resourceClaimName,
  requestMappings: requests.map(({ containerName, resourceName, requestName }) => ({
    containerName,
    resourceName,
    requestName,
  })),
})
