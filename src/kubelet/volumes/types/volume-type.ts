// A volume type: how one kind of volume is made present on the node. Mounting is done before the sandbox, before every
// start of a container and when something that it shows has changed, so it must be idempotent.
import type { Clock } from '../../../base/time/clock.ts'
import type { Context } from '../../../base/observability/context.ts'
import type { ConfigMap } from '../../../api/core/v1/config-map.ts'
import type { Node } from '../../../api/core/v1/node/node.ts'
import type { PersistentVolume } from '../../../api/core/v1/volume/persistent-volume.ts'
import type { PersistentVolumeClaim } from '../../../api/core/v1/volume/persistent-volume-claim.ts'
import type { Pod } from '../../../api/core/v1/pod/pod.ts'
import type { Secret } from '../../../api/core/v1/secret.ts'
import type { Volume } from '../../../api/core/v1/volume/volume.ts'
import type { Disk } from '../../../machine/disk/disk.ts'
import type { ImageMounts } from '../../../machine/cri/image-mounts.ts'
import type { RuntimeImage } from '../../../machine/runtime/container-runtime.ts'
import type { NodeInfo } from '../../pod-config/field-values.ts'

/** What volumes are made of beside the disk. */
export interface VolumeSources {
  configMap(namespace: string, name: string, context: Context): Promise<ConfigMap | undefined>
  secret(namespace: string, name: string, context: Context): Promise<Secret | undefined>
  claim(namespace: string, name: string, context: Context): Promise<PersistentVolumeClaim | undefined>
  persistentVolume(name: string, context: Context): Promise<PersistentVolume | undefined>
  /** The node's own object. */
  node(context: Context): Promise<Node | undefined>
  /** A token of the pod's account, renewed before it expires. */
  token(pod: Pod, audience: string | undefined, expirationSeconds: number, context: Context): Promise<string>
}

export interface VolumeMountInput {
  readonly pod: Pod
  readonly volume: Volume
  /** Where a volume of this pod and type lies; made by the type that needs it. */
  readonly directory: string
  readonly node: NodeInfo
  readonly disk: Disk
  readonly sources: VolumeSources
  /** Undefined where images cannot be shown. */
  readonly imageMounts: ImageMounts | undefined
  /** Images that are present, by the volume that shows them. */
  readonly images: ReadonlyMap<string, RuntimeImage>
  readonly clock: Clock
  readonly context: Context
}

/** Where a volume lies once it is present. */
export interface MountedVolume {
  readonly path: string
  /** A device, which containers see as one, instead of files. */
  readonly isBlock?: boolean
  /** Whether containers may only read it, whatever they ask for. */
  readonly readOnly: boolean
  /** Its own mount is read-only, and without programs to run: a runtime that is asked for the first forgets the second. */
  readonly isSealed?: boolean
}

export interface VolumeType {
  /** The field of a volume that asks for it. */
  readonly name: keyof Volume
  /** How its folder is called. */
  readonly directoryName: string
  /** Whether what it shows changes with objects of the API while the pod runs. */
  readonly tracksApiObjects: boolean
  /**
   * Makes it present, for the pod's group where it has one; undefined: it comes with the first container that wants it.
   * Throws VolumeError when it cannot be had now.
   */
  mount(work: VolumeMountInput): Promise<MountedVolume | undefined>
}

export const defineVolumeType = (type: VolumeType): VolumeType => type

/** The volume cannot be had now; it will be tried again. */
export class VolumeError extends Error {
  override name = 'VolumeError'
}

/** The message is already as users know it from the events of a pod. */
export class FormattedVolumeError extends VolumeError {
  override name = 'FormattedVolumeError'
}
