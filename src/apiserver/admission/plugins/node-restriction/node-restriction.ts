// NodeRestriction: a kubelet may write only its own Node, Lease and CSINode and the pods that are bound to it, and may not
// give its node restricted labels or ranges of pod addresses. Its provisioner may provision volumes only on its node.
import { lease } from '../../../../api/coordination/v1/lease.ts'
import { persistentVolumeClaim } from '../../../../api/core/v1/volume/persistent-volume-claim.ts'
import { persistentVolume } from '../../../../api/core/v1/volume/persistent-volume.ts'
import { node, type Node } from '../../../../api/core/v1/node/node.ts'
import { mirrorPodAnnotation } from '../../../../api/core/v1/pod/pod-annotations.ts'
import { pod, type Pod } from '../../../../api/core/v1/pod/pod.ts'
import { serviceAccount } from '../../../../api/core/v1/service-account.ts'
import {
  certificateSigningRequest,
  type CertificateSigningRequest,
} from '../../../../api/certificates/v1/certificate-signing-request.ts'
import { resourceSlice, type ResourceSlice } from '../../../../api/resource/v1/resource-slice.ts'
import { csiNode } from '../../../../api/storage/v1/csi-node.ts'
import { parseRequestSubject } from '../../../../pki/parse-certificate-request.ts'
import { notFound } from '../../../../api/errors/status-error.ts'
import { equalValues, without } from '../../../../schema/json/json-value.ts'
import { provisionerNodeOf } from '../../../authorization/node/node-agents.ts'
import { bringsRanges, nodeNameOf } from '../../../authorization/node/node-user.ts'
import { mirrorReference } from './mirror-pod-references.ts'
import { forbiddenLabels } from './node-labels.ts'
import { checkTokenRequest } from './node-token-requests.ts'
import { volumeRejection } from './node-volumes.ts'
import {
  defineAdmissionPlugin,
  admissionForbidden,
  type AdmissionAttributes,
} from '../../framework/admission-plugin.ts'
import type { ObjectLister } from '../../../watch-cache/object-caches.ts'

const leaseNamespace = 'kube-node-lease'

export const nodeRestriction = defineAdmissionPlugin({
  name: 'NodeRestriction',
  handles: {
    operations: ['create', 'update', 'delete'],
    kinds: [
      pod,
      node,
      persistentVolume,
      persistentVolumeClaim,
      serviceAccount,
      lease,
      csiNode,
      certificateSigningRequest,
      resourceSlice,
    ],
    subresources: 'all',
  },
  validate(attributes, host) {
    const name = nodeNameOf(attributes.user) ?? provisionerNodeOf(attributes.user)
    if (name === undefined) return undefined
    if (name === '')
      throw admissionForbidden(attributes, `could not determine node from user ${JSON.stringify(attributes.user.name)}`)
    if (attributes.kind === serviceAccount) return checkTokenRequest(name, attributes, host)
    const rejection = rejectionOf(name, attributes, host)
    if (rejection !== undefined) throw admissionForbidden(attributes, rejection)
    return undefined
  },
})

function rejectionOf(name: string, attributes: AdmissionAttributes, reads: ObjectLister): string | undefined {
  switch (attributes.kind) {
    case pod:
      return podRejection(name, attributes, reads)
    case node:
      return nodeRejection(name, attributes)
    case persistentVolume:
      return volumeRejection(name, attributes, reads)
    case persistentVolumeClaim:
      return claimRejection(name, attributes)
    case lease:
      if (attributes.namespace !== leaseNamespace)
        return `can only access leases in the ${JSON.stringify(leaseNamespace)} system namespace`
      return attributes.name === name
        ? undefined
        : 'can only access node lease with the same name as the requesting node'
    case csiNode:
      return attributes.name === name ? undefined : 'can only access CSINode with the same name as the requesting node'
    case certificateSigningRequest:
      return requestRejection(name, attributes)
    case resourceSlice:
      return sliceRejection(name, attributes)
    default:
      return undefined
  }
}

function podRejection(name: string, attributes: AdmissionAttributes, reads: ObjectLister): string | undefined {
  const { operation, subresource, object, old } = attributes
  const quoted = JSON.stringify(name)
  const isOwn = (old as Pod | undefined)?.spec.nodeName === name
  if (subresource === 'status') {
    if (!isOwn) return `node ${quoted} can only update pod status for pods with spec.nodeName set to itself`
    if (!equalValues(object?.metadata.labels, old?.metadata.labels))
      return `node ${quoted} cannot update labels through pod status`
    const now = (object as Pod).status
    const before = (old as Pod).status
    if (!equalValues(now.resourceClaimStatuses, before.resourceClaimStatuses))
      return `node ${quoted} cannot update resource claim statues`
    return equalValues(now.extendedResourceClaimStatus, before.extendedResourceClaimStatus)
      ? undefined
      : `node ${quoted} cannot update extended resource claim status`
  }
  if (subresource === 'eviction') {
    const evicted = existingPod(attributes.namespace, attributes.name, reads)
    return evicted.spec.nodeName === name
      ? undefined
      : `node ${name} can only evict pods with spec.nodeName set to itself`
  }
  if (subresource !== '')
    return `unexpected pod subresource ${JSON.stringify(subresource)}, only 'status' and 'eviction' are allowed`
  if (operation === 'delete')
    return isOwn ? undefined : `node ${quoted} can only delete pods with spec.nodeName set to itself`
  if (operation === 'create') return mirrorRejection(quoted, name, object as Pod, reads)
  return `unexpected operation "UPDATE", node ${quoted} can only create and delete mirror pods`
}

function existingPod(namespace: string, name: string, reads: ObjectLister): Pod {
  const found = reads.get(pod, namespace, name)
  if (found === undefined) throw notFound(pod, name)
  return found
}

function mirrorRejection(
  quoted: string,
  name: string,
  { metadata, spec }: Pod,
  reads: ObjectLister,
): string | undefined {
  if (metadata.annotations?.[mirrorPodAnnotation] === undefined)
    return `pod does not have "${mirrorPodAnnotation}" annotation, node ${quoted} can only create mirror pods`
  if (spec.nodeName !== name) return `node ${quoted} can only create pods with spec.nodeName set to itself`
  const [owner, ...more] = metadata.ownerReferences ?? []
  if (more.length > 0) return `node ${quoted} can only create pods with a single owner reference set to itself`
  if (owner === undefined) return `node ${quoted} can only create pods with an owner reference set to itself`
  if (owner.apiVersion !== 'v1' || owner.kind !== 'Node' || owner.name !== name)
    return `node ${quoted} can only create pods with an owner reference set to itself`
  if (owner.controller !== true)
    return `node ${quoted} can only create pods with a controller owner reference set to itself`
  if (owner.blockOwnerDeletion === true) return `node ${quoted} must not set blockOwnerDeletion on an owner reference`
  const own = reads.get(node, '', name)
  if (own === undefined) throw notFound(node, name)
  const { uid } = own.metadata
  if (owner.uid !== uid) return `node ${name} UID mismatch: expected ${owner.uid} got ${uid}`
  const reference = mirrorReference(spec)
  return reference === undefined ? undefined : `node ${quoted} can not create pods that reference ${reference}`
}

function nodeRejection(name: string, attributes: AdmissionAttributes): string | undefined {
  const { operation, object, old, name: target } = attributes
  const quoted = JSON.stringify(name)
  if (target !== name) return `node ${quoted} is not allowed to modify node ${JSON.stringify(target)}`
  if (operation !== 'delete') {
    const now = object as Node
    const before = old as Node | undefined
    const { configSource, taints = [] } = now.spec
    const isSet = configSource !== undefined && !equalValues(configSource, before?.spec.configSource)
    if (isSet && before === undefined) return `node ${quoted} is not allowed to create pods with a non-nil configSource`
    if (isSet) return `node ${quoted} is not allowed to update configSource to a new non-nil configSource`
    if (before !== undefined && !equalValues(taints, before.spec.taints ?? []))
      return `node ${quoted} is not allowed to modify taints`
    const owners = [now, before].map((each) => each?.metadata.ownerReferences ?? [])
    if (before !== undefined && !equalValues(owners[0], owners[1]))
      return `node ${quoted} is not allowed to modify ownerReferences`
    const labels = forbiddenLabels(now.metadata.labels ?? {}, before?.metadata.labels, before === undefined)
    if (labels !== undefined) return `${before === undefined ? `node ${quoted} ` : ''}is not allowed to ${labels}`
    if (!bringsRanges(attributes.user) && !equalValues(rangesOf(now), rangesOf(before)))
      return `node ${quoted} is not allowed to set podCIDRs`
  }
  return undefined
}

/** Other nodes route these addresses to the node. Upstream's kubelets never set them, although upstream permits it. */
const rangesOf = (object: Node | undefined): object => [object?.spec.podCIDR ?? '', object?.spec.podCIDRs ?? []]

/** A kubelet may only change the capacity, the conditions and the resize status of a claim. */
function claimRejection(
  name: string,
  { operation, subresource, object, old }: AdmissionAttributes,
): string | undefined {
  if (subresource !== 'status') return 'may only update PVC status'
  if (operation !== 'update') return `unexpected operation ${JSON.stringify(operation.toUpperCase())}`
  const kubeletFields = ['capacity', 'conditions', 'allocatedResources', 'allocatedResourceStatuses']
  const rest = [object, old].map((each) => {
    const { metadata, status, ...others } = each as unknown as Record<string, Record<string, unknown>>
    const otherStatus = Object.entries(status ?? {}).filter(([field]) => !kubeletFields.includes(field))
    return { ...others, metadata: without(without(metadata ?? {}, 'managedFields'), 'resourceVersion'), otherStatus }
  })
  return equalValues(rest[0], rest[1])
    ? undefined
    : `node ${JSON.stringify(name)} is not allowed to update fields other than status.quantity and status.conditions`
}

const kubeletSigners = ['kubernetes.io/kubelet-serving', 'kubernetes.io/kube-apiserver-client-kubelet']

function requestRejection(name: string, { operation, object }: AdmissionAttributes): string | undefined {
  if (operation !== 'create') return undefined
  const { signerName, request } = (object as CertificateSigningRequest).spec
  if (!kubeletSigners.includes(signerName)) return undefined
  const wanted = `system:node:${name}`
  try {
    if (parseRequestSubject(atob(request)).commonName === wanted) return undefined
  } catch (error) {
    return `unable to parse csr: ${(error as Error).message}`
  }
  return `can only create a node CSR with CN=${wanted}`
}

function sliceRejection(name: string, { operation, object, old }: AdmissionAttributes): string | undefined {
  const isOwn = [object, old].every((each) => each === undefined || (each as ResourceSlice).spec.nodeName === name)
  return isOwn ? undefined : `can only ${operation} ResourceSlice with the same NodeName as the requesting node`
}
