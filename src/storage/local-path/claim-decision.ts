// What happens to a claim, as a pure function of the objects: provision a volume, expand it, reject the claim, or nothing.
import { hostnameLabel } from '../../api/core/v1/node/node-labels.ts'
import { bindingAnnotations, classNameOf } from '../../api/core/v1/volume/claim-binding.ts'
import type { PersistentVolumeClaim } from '../../api/core/v1/volume/persistent-volume-claim.ts'
import type { PersistentVolume, PersistentVolumeInput } from '../../api/core/v1/volume/persistent-volume.ts'
import type { StorageClass } from '../../api/storage/v1/storage-class.ts'
import { quantityUnits } from '../../schema/scalar/quantity.ts'
import {
  claimRefOf,
  isClaimOf,
  isVolumeOf,
  provisionerFinalizer,
  selectedNodeOf,
  volumeNameOf,
} from '../provisioning/provisioning.ts'
import { localPathProvisionerName } from './local-path-class.ts'

export type ClaimDecision =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'provision'; readonly nodeName: string; readonly storageClass: StorageClass }
  | { readonly kind: 'reject'; readonly className: string; readonly why: string }
  | { readonly kind: 'expand'; readonly nodeName: string; readonly volume: PersistentVolume; readonly size: string }

export interface ClaimDecisionInput {
  readonly classNamed: (name: string) => StorageClass | undefined
  readonly volumeNamed: (name: string) => PersistentVolume | undefined
  readonly servesNode: (name: string) => boolean
}

const nothing: ClaimDecision = { kind: 'nothing' }

const requestOf = ({ spec }: PersistentVolumeClaim): string => spec.resources?.requests?.['storage'] ?? '0'

export function decideClaim(claim: PersistentVolumeClaim, input: ClaimDecisionInput): ClaimDecision {
  if (claim.metadata.deletionTimestamp !== undefined) return nothing
  return claim.spec.volumeName ? decideExpansion(claim, claim.spec.volumeName, input) : decideProvisioning(claim, input)
}

function decideProvisioning(
  claim: PersistentVolumeClaim,
  { classNamed, volumeNamed, servesNode }: ClaimDecisionInput,
): ClaimDecision {
  const nodeName = selectedNodeOf(claim)
  if (!isClaimOf(claim, localPathProvisionerName) || nodeName === undefined || !servesNode(nodeName)) return nothing
  if (volumeNamed(volumeNameOf(claim)) !== undefined) return nothing
  const className = classNameOf(claim)
  const storageClass = classNamed(className)
  if (storageClass?.provisioner !== localPathProvisionerName) return nothing
  const why = rejectionOf(claim, storageClass)
  return why === undefined ? { kind: 'provision', nodeName, storageClass } : { kind: 'reject', className, why }
}

const supportedModes = new Set(['ReadWriteOnce', 'ReadWriteOncePod'])

function rejectionOf({ spec }: PersistentVolumeClaim, { parameters = {} }: StorageClass): string | undefined {
  const mode = spec.accessModes?.find((each) => !supportedModes.has(each))
  if (mode !== undefined) return `access mode ${mode} is not supported: the volume is a directory of one node`
  if (spec.volumeMode === 'Block') return 'volumeMode Block is not supported: the volume is a directory'
  if (spec.selector !== undefined) return 'a selector is not supported: the volume is created for the claim'
  if (spec.dataSource !== undefined || spec.dataSourceRef !== undefined) return 'data sources are not supported'
  const [parameter] = Object.keys(parameters)
  return parameter === undefined
    ? undefined
    : `the parameter ${JSON.stringify(parameter)} of the class is not supported`
}

function decideExpansion(
  claim: PersistentVolumeClaim,
  name: string,
  { volumeNamed }: ClaimDecisionInput,
): ClaimDecision {
  const volume = volumeNamed(name)
  const nodeName = volume && localPathNodeOf(volume)
  if (volume === undefined || nodeName === undefined || claim.status.phase !== 'Bound') return nothing
  if (volume.spec.claimRef?.uid !== claim.metadata.uid) return nothing
  const size = requestOf(claim)
  const reported = claim.status.capacity?.['storage'] ?? '0'
  return quantityUnits(size) > quantityUnits(reported) ? { kind: 'expand', nodeName, volume, size } : nothing
}

/** The node of a volume that this provisioner has created; undefined for other volumes. */
export function localPathNodeOf(volume: PersistentVolume): string | undefined {
  if (!isVolumeOf(volume, localPathProvisionerName)) return undefined
  const terms = volume.spec.nodeAffinity?.required?.nodeSelectorTerms ?? []
  return terms[0]?.matchExpressions?.find(({ key }) => key === hostnameLabel)?.values?.[0]
}

export interface VolumePlace {
  readonly nodeName: string
  readonly path: string
  /** Set if the size of the directory is limited. */
  readonly projectId: number | undefined
}

/** The project id of a volume's directory. */
export const projectAnnotation = 'coxswain.dev/project-id'

export function newVolume(
  claim: PersistentVolumeClaim,
  { metadata, reclaimPolicy, mountOptions }: StorageClass,
  { nodeName, path, projectId }: VolumePlace,
): PersistentVolumeInput & { metadata: { name: string } } {
  return {
    metadata: {
      name: volumeNameOf(claim),
      annotations: {
        [bindingAnnotations.provisionedBy]: localPathProvisionerName,
        ...(projectId === undefined ? {} : { [projectAnnotation]: String(projectId) }),
      },
      ...(reclaimPolicy === 'Retain' ? {} : { finalizers: [provisionerFinalizer] }),
    },
    spec: {
      accessModes: claim.spec.accessModes ?? [],
      capacity: { storage: requestOf(claim) },
      claimRef: claimRefOf(claim),
      local: { path },
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: hostnameLabel, operator: 'In', values: [nodeName] }] }],
        },
      },
      persistentVolumeReclaimPolicy: reclaimPolicy === 'Retain' ? 'Retain' : 'Delete',
      storageClassName: metadata.name,
      volumeMode: 'Filesystem',
      ...(mountOptions === undefined ? {} : { mountOptions }),
    },
  }
}
