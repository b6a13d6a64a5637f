// CsiVolume: a volume of a storage driver as a pod uses it, from a persistent volume or from the pod itself.
import type { Pod } from '../../../api/core/v1/pod/pod.ts'
import type { PersistentVolume } from '../../../api/core/v1/volume/persistent-volume.ts'
import type { Volume } from '../../../api/core/v1/volume/volume.ts'
import { namespaceOf } from '../../../api/meta/object.ts'
import { VolumeError } from '../contract/volume-type.ts'

export interface SecretLocation {
  readonly namespace: string
  readonly name: string
}

export interface CsiVolume {
  readonly lifecycle: 'Persistent' | 'Ephemeral'
  /** The name of the persistent volume; that of the pod's volume if it is ephemeral. */
  readonly specName: string
  readonly driver: string
  readonly handle: string
  readonly isBlock: boolean
  readonly readOnly: boolean
  readonly fsType: string
  readonly attributes: Readonly<Record<string, string>>
  readonly accessModes: readonly string[]
  readonly mountOptions: readonly string[]
  readonly stageSecret: SecretLocation | undefined
  readonly publishSecret: SecretLocation | undefined
  readonly expandSecret: SecretLocation | undefined
}

/** Upstream's name of the volume in the status of its node. */
export const uniqueName = ({ driver, handle }: Pick<CsiVolume, 'driver' | 'handle'>): string =>
  `kubernetes.io/csi/${driver}^${handle}`

/** The name of the VolumeAttachment. */
export const attachmentName = (
  { driver, handle }: Pick<CsiVolume, 'driver' | 'handle'>,
  nodeName: string,
  sha256: (text: string) => string,
): string => `csi-${sha256(`${handle}${driver}${nodeName}`)}`

export function persistentCsiVolume({ metadata, spec }: PersistentVolume, readOnly: boolean): CsiVolume {
  const { csi } = spec
  if (csi === undefined) throw new VolumeError(`persistent volume ${metadata.name} does not belong to a CSI driver`)
  return {
    lifecycle: 'Persistent',
    specName: metadata.name,
    driver: csi.driver,
    handle: csi.volumeHandle,
    isBlock: spec.volumeMode === 'Block',
    readOnly,
    fsType: csi.fsType ?? '',
    attributes: csi.volumeAttributes ?? {},
    accessModes: spec.accessModes ?? [],
    mountOptions: spec.mountOptions ?? [],
    stageSecret: locationOf(csi.nodeStageSecretRef),
    publishSecret: locationOf(csi.nodePublishSecretRef),
    expandSecret: locationOf(csi.nodeExpandSecretRef),
  }
}

/** A volume with the lifetime of its pod; its handle follows from both. */
export function inlineCsiVolume(pod: Pod, { name, csi }: Volume, sha256: (text: string) => string): CsiVolume {
  if (csi === undefined) throw new VolumeError('the volume does not belong to a CSI driver')
  return {
    lifecycle: 'Ephemeral',
    specName: name,
    driver: csi.driver,
    handle: `csi-${sha256(`${pod.metadata.uid}${name}`)}`,
    isBlock: false,
    readOnly: csi.readOnly ?? false,
    fsType: csi.fsType ?? '',
    attributes: csi.volumeAttributes ?? {},
    accessModes: [],
    mountOptions: [],
    stageSecret: undefined,
    publishSecret: locationOf(csi.nodePublishSecretRef, namespaceOf(pod)),
    expandSecret: undefined,
  }
}

const locationOf = (
  reference: { readonly name?: string; readonly namespace?: string } | undefined,
  ownNamespace = '',
): SecretLocation | undefined =>
  reference === undefined ? undefined : { namespace: reference.namespace ?? ownNamespace, name: reference.name ?? '' }
