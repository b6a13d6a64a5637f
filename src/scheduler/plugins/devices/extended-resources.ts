// Extended resources backed by device classes: on nodes that do not provide such a resource themselves, the pod gets
// devices of the class, through a claim that the scheduler creates.
import { lookup } from '../../../base/collections/lookup.ts'
import type { Node } from '../../../api/core/v1/node/node.ts'
import type { Pod } from '../../../api/core/v1/pod/pod.ts'
import { namespaceOf } from '../../../api/meta/object.ts'
import { resourceClaim, type ResourceClaim } from '../../../api/resource/v1/resource-claim.ts'
import { quantityUnits } from '../../../schema/scalar/quantity.ts'

/** The request of one container for one class. */
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
        const deviceClassName = classFor(resourceName)
        const count = quantityUnits(quantity)
        if (deviceClassName === undefined || count === 0) return []
        const requestName = `container-${container}-request-${request}`
        return [{ containerName, resourceName, requestName, deviceClassName, count }]
      }),
  )
}

/** Requests that the node does not serve with its own resources. */
export const unservedBy = ({ status }: Node, requests: readonly ExtendedRequest[]): readonly ExtendedRequest[] =>
  requests.filter(({ resourceName }) => quantityUnits(lookup(status.allocatable, resourceName)) === 0)

/** Metadata of the claim for extended resources. */
export const extendedMetadata = ({ apiVersion, kind, metadata: { name: owner, uid } }: Pod, name: string) => ({
  name,
  annotations: { [claimAnnotation]: 'true' },
  ownerReferences: [{ apiVersion, kind, name: owner, uid, controller: true, blockOwnerDeletion: true }],
})

/** The claim for extended resources as it will be created before binding. */
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

/** The pod's status for that claim. */
export const extendedStatus = (resourceClaimName: string, requests: readonly ExtendedRequest[]) => ({
  resourceClaimName,
  requestMappings: requests.map(({ containerName, resourceName, requestName }) => ({
    containerName,
    resourceName,
    requestName,
  })),
})
