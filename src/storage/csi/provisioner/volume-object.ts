// The request for a volume, and the PersistentVolume of the volume that the driver created.
import { bindingAnnotations } from '../../../api/core/v1/volume/claim-binding.ts'
import type { PersistentVolumeClaim } from '../../../api/core/v1/volume/persistent-volume-claim.ts'
import type { PersistentVolumeInput } from '../../../api/core/v1/volume/persistent-volume.ts'
import type { StorageClass } from '../../../api/storage/v1/storage-class.ts'
import type { createVolumeRequest } from '../../../machine/csi/messages/controller.ts'
import type { volume as volumeMessage } from '../../../machine/csi/messages/volume.ts'
import type { Proto, ProtoInput } from '../../../wire/protobuf/proto-message.ts'
import { capabilityOf } from '../sidecar/access-modes.ts'
import {
  driverParameters,
  filesystemType,
  secretRef,
  type SecretPurpose,
  type SecretRef,
  type TemplateValues,
} from '../sidecar/class-parameters.ts'
import { bytesText, storageBytes } from '../sidecar/quantities.ts'
import { claimRefOf, provisionerFinalizer, volumeNameOf } from '../../provisioning/provisioning.ts'
import { nodeSelectorTerms } from './claim-topology.ts'

/** What the request and the object are made of. */
export interface VolumeParts {
  readonly driverName: string
  readonly claim: PersistentVolumeClaim
  readonly storageClass: StorageClass
  readonly hasMultiWriter: boolean
  /** Whether names of the claim and the volume are passed to the driver. */
  readonly hasExtraMetadata: boolean
}

const secretNameAnnotation = 'volume.kubernetes.io/provisioner-deletion-secret-name'
const secretNamespaceAnnotation = 'volume.kubernetes.io/provisioner-deletion-secret-namespace'

/** The secret with which a volume is deleted. */
export const deletionSecretOf = (annotations: Readonly<Record<string, string>> = {}): SecretRef => ({
  name: annotations[secretNameAnnotation] ?? '',
  namespace: annotations[secretNamespaceAnnotation] ?? '',
})

export function secretOf({ claim, storageClass }: VolumeParts, purpose: SecretPurpose): SecretRef | undefined {
  const { name, namespace = '', annotations = {} } = claim.metadata
  const values: TemplateValues = {
    'pv.name': volumeNameOf(claim),
    'pvc.name': name,
    'pvc.namespace': namespace,
    ...Object.fromEntries(Object.entries(annotations).map(([key, value]) => [`pvc.annotations['${key}']`, value])),
  }
  return secretRef(storageClass.parameters ?? {}, purpose, values)
}

/** Without secrets, content source and topology, which need other objects. */
export function volumeRequest(parts: VolumeParts): ProtoInput<typeof createVolumeRequest> {
  const { claim, storageClass, hasMultiWriter, hasExtraMetadata } = parts
  const { parameters = {}, mountOptions = [] } = storageClass
  const options = {
    isBlock: claim.spec.volumeMode === 'Block',
    fsType: filesystemType(parameters),
    mountFlags: mountOptions,
    hasMultiWriter,
  }
  const { name, namespace = '' } = claim.metadata
  const extra = {
    'csi.storage.k8s.io/pvc/name': name,
    'csi.storage.k8s.io/pvc/namespace': namespace,
    'csi.storage.k8s.io/pv/name': volumeNameOf(claim),
  }
  return {
    name: volumeNameOf(claim),
    capacityRange: { requiredBytes: storageBytes(claim.spec.resources?.requests) },
    volumeCapabilities: (claim.spec.accessModes ?? []).map((mode) => capabilityOf(mode, options)),
    parameters: { ...driverParameters(parameters), ...(hasExtraMetadata ? extra : {}) },
  }
}

export function volumeObject(parts: VolumeParts, created: Proto<typeof volumeMessage>): PersistentVolumeInput {
  const { driverName, claim, storageClass } = parts
  const { spec } = claim
  const deletionSecret = secretOf(parts, 'provisioner')
  const terms = nodeSelectorTerms(created.accessibleTopology)
  const { volumeAttributesClassName } = spec
  return {
    metadata: {
      name: volumeNameOf(claim),
      annotations: {
        [bindingAnnotations.provisionedBy]: driverName,
        [secretNameAnnotation]: deletionSecret?.name ?? '',
        [secretNamespaceAnnotation]: deletionSecret?.namespace ?? '',
      },
      ...(storageClass.reclaimPolicy === 'Delete' ? { finalizers: [provisionerFinalizer] } : {}),
    },
    spec: {
      accessModes: spec.accessModes ?? [],
      capacity: { storage: bytesText(created.capacityBytes || storageBytes(spec.resources?.requests)) },
      claimRef: claimRefOf(claim),
      csi: {
        driver: driverName,
        volumeHandle: created.volumeId,
        ...(spec.volumeMode === 'Block' ? {} : { fsType: filesystemType(storageClass.parameters ?? {}) }),
        volumeAttributes: { ...created.volumeContext, 'storage.kubernetes.io/csiProvisionerIdentity': driverName },
        ...secretRefs(parts),
      },
      ...(terms.length > 0 ? { nodeAffinity: { required: { nodeSelectorTerms: terms } } } : {}),
      mountOptions: storageClass.mountOptions ?? [],
      persistentVolumeReclaimPolicy: storageClass.reclaimPolicy === 'Retain' ? 'Retain' : 'Delete',
      storageClassName: storageClass.metadata.name,
      volumeMode: spec.volumeMode,
      ...(volumeAttributesClassName === undefined ? {} : { volumeAttributesClassName }),
    },
  }
}

function secretRefs(parts: VolumeParts) {
  const refs = {
    controllerPublishSecretRef: secretOf(parts, 'controller-publish'),
    nodeStageSecretRef: secretOf(parts, 'node-stage'),
    nodePublishSecretRef: secretOf(parts, 'node-publish'),
    controllerExpandSecretRef: secretOf(parts, 'controller-expand'),
    nodeExpandSecretRef: secretOf(parts, 'node-expand'),
  }
  return Object.fromEntries(Object.entries(refs).filter(([, ref]) => ref !== undefined))
}
