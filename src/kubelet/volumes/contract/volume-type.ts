// VolumeType: how volumes of one type are mounted on the node, and released. A volume is mounted before the sandbox is created,
// before every container start, and when its source has changed, so mounting must be idempotent.
import type { Context } from '../../../base/observability/context.ts'
import type { ConfigMap } from '../../../api/core/v1/config-map.ts'
import type { Node } from '../../../api/core/v1/node/node.ts'
import type { PersistentVolume } from '../../../api/core/v1/volume/persistent-volume.ts'
import type { PersistentVolumeClaim } from '../../../api/core/v1/volume/persistent-volume-claim.ts'
import type { Pod } from '../../../api/core/v1/pod/pod.ts'
import type { Secret } from '../../../api/core/v1/secret.ts'
import type { Volume } from '../../../api/core/v1/volume/volume.ts'
import type { CSIDriver } from '../../../api/storage/v1/csi-driver.ts'
import type { VolumeAttachment } from '../../../api/storage/v1/volume-attachment.ts'
import type { Disk } from '../../../machine/disk/disk.ts'
import type { ImageMounts } from '../../../machine/cri/image-mounts.ts'
import type { RuntimeImage } from '../../../machine/runtime/container-runtime.ts'
import type { Client } from '../../../client/client.ts'
import type { EventRecorder } from '../../../client/events/event-recorder.ts'
import { isFileName } from '../../../base/text/file-names.ts'
import type { NodeInfo } from '../../pod-config/field-values.ts'

/** The API objects that volumes are made from. */
export interface VolumeSources {
  configMap(namespace: string, name: string, context: Context): Promise<ConfigMap | undefined>
  secret(namespace: string, name: string, context: Context): Promise<Secret | undefined>
  claim(namespace: string, name: string, context: Context): Promise<PersistentVolumeClaim | undefined>
  persistentVolume(name: string, context: Context): Promise<PersistentVolume | undefined>
  /** The Node object. */
  node(context: Context): Promise<Node | undefined>
  /** A token of the pod's service account, renewed before it expires. */
  token(pod: Pod, audience: string | undefined, expirationSeconds: number, context: Context): Promise<string>
  accountToken(
    pod: Pod,
    audience: string | undefined,
    expirationSeconds: number,
    context: Context,
  ): Promise<AccountToken>
  /** What a storage driver requires; undefined when it has no CSIDriver object. */
  csiDriver(name: string, context: Context): Promise<CSIDriver | undefined>
  volumeAttachment(name: string, context: Context): Promise<VolumeAttachment | undefined>
  /** The Node object, not from a cache. */
  uncachedNode(context: Context): Promise<Node | undefined>
}

/** A token of a service account. */
export interface AccountToken {
  readonly token: string
  readonly expirationTimestamp: string
}

/** A claim and the volume that is bound to it. */
export interface BoundVolume {
  readonly claim: PersistentVolumeClaim
  readonly volume: PersistentVolume
  /** Whether the pod requests it read-only. */
  readonly readOnly: boolean
}

/** Updates claims whose volumes have grown. */
export interface ClaimDeps {
  readonly client: Client
  readonly events: EventRecorder
  readonly nodeName: string
}

/** Mounts volumes of storage drivers. */
export interface CsiMounts {
  mountPersistent(bound: BoundVolume, work: PodVolume, context: Context): Promise<MountedVolume>
  mountInline(work: PodVolume, context: Context): Promise<MountedVolume>
  /** Unpublishes the volumes of a pod, those of its claims included. Rejects when a driver does not release one. */
  unmountPod(podUid: string, context: Context): Promise<void>
}

/** A volume of a pod. */
export interface PodVolume {
  readonly pod: Pod
  readonly volume: Volume
  /** The directory of this volume, created by types that need it. */
  readonly directory: string
  /** Its image, if the volume is one and the image was pulled. */
  readonly image: RuntimeImage | undefined
}

/** What the types use of the node. */
export interface VolumeDeps {
  readonly node: NodeInfo
  readonly disk: Disk
  readonly sources: VolumeSources
  /** Undefined where image volumes are not supported. */
  readonly imageMounts?: ImageMounts | undefined
  /** Undefined where no storage driver can register. */
  readonly csi?: CsiMounts | undefined
  /** Undefined where claims are not updated. */
  readonly claims?: ClaimDeps | undefined
}

/** The directory of a volume of another type: of the volume that is bound to a claim. */
export function directoryBeside({ directory }: PodVolume, type: string, name: string): string {
  if (!isFileName(name)) throw new VolumeError(`${JSON.stringify(name)} is not a valid name of a volume`)
  return `${directory.slice(0, directory.lastIndexOf('/kubernetes.io~'))}/kubernetes.io~${type}/${name}`
}

/** A mounted volume. */
export interface MountedVolume {
  readonly path: string
  /** A block device instead of a directory. */
  readonly isBlock?: boolean
  /** Whether containers get it read-only, whatever they request. */
  readonly readOnly: boolean
  /**
   * The mount itself is read-only and noexec. The runtime must not remount it read-only, because that would drop
   * noexec.
   */
  readonly isSealed?: boolean
  /** A claim whose volume is a path of the node. It stays the same while the pod exists, because the claim stays bound. */
  readonly isNodePath?: boolean
}

export interface VolumeType {
  /** The field of the Volume object. */
  readonly name: keyof Volume
  /** The type in the path of its directory, as upstream names it. */
  readonly directoryName: string
  /** Whether its content follows API objects while the pod runs. */
  readonly tracksApiObjects: boolean
  /** Whether mounting may wait for others, such as a storage driver. It does not delay other volumes of the pod then. */
  readonly mayWait?: boolean
  /**
   * Mounts the volume and applies the pod's fsGroup. Undefined: it is mounted when the first container that uses it
   * starts. Throws VolumeError when it is not available now.
   */
  mount(work: PodVolume, deps: VolumeDeps, context: Context): Promise<MountedVolume | undefined>
  /** Does what a mounted volume needs from time to time, such as its expansion. Throws VolumeError as `mount` does. */
  recheck?(work: PodVolume, deps: VolumeDeps, context: Context): Promise<void>
  /**
   * Releases the volumes of this type of a pod, before everything below its directories is unmounted and removed. Left
   * out where that is enough.
   */
  unmount?(volumes: PodVolumes, deps: VolumeDeps, context: Context): Promise<void>
}

/** The volumes of one type of a pod. */
export interface PodVolumes {
  readonly podUid: string
  /** The directory that contains the directory of each. */
  readonly directory: string
  /** Unmounts the subPaths of the pod's containers, which are on top of its volumes. */
  readonly unmountSubPaths: () => Promise<void>
}

export const defineVolumeType = (type: VolumeType): VolumeType => type

/** The volume is not available now; mounting is retried. */
export class VolumeError extends Error {
  override name = 'VolumeError'
  /** The reason of the event. */
  readonly reason: string = 'FailedMount'
}

/** A VolumeError whose message is complete; no prefix is added to it in the event. */
export class FormattedVolumeError extends VolumeError {
  override name = 'FormattedVolumeError'
}

/** A FormattedVolumeError of a volume that is used as a device. */
export class DeviceError extends FormattedVolumeError {
  override name = 'DeviceError'
  override readonly reason = 'FailedMapVolume'
}

/** The file system of a mounted volume could not be grown. */
export class ResizeError extends FormattedVolumeError {
  override name = 'ResizeError'
  override readonly reason = 'VolumeResizeFailed'
}

/** The volume was not attached in time. No event is recorded, as upstream; the attach/detach controller records why. */
export class AttachmentPending extends FormattedVolumeError {
  override name = 'AttachmentPending'
}

/** The driver cannot attach more volumes to the node, so the pod fails and its controller replaces it. */
export class AttachmentLimitExceeded extends FormattedVolumeError {
  override name = 'AttachmentLimitExceeded'
  override readonly reason = 'VolumeAttachmentLimitExceeded'
}
