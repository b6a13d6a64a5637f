// A volume type: how one kind of volume is made present on the node and taken away again. Mounting is done
// before the sandbox and before every start of a container, so it must be idempotent.
import type { Clock } from '../../base/clock.ts'
import type { Context } from '../../base/context.ts'
import type { ConfigMap } from '../../api/core/v1/config-map.ts'
import type { Pod } from '../../api/core/v1/pod.ts'
import type { Secret } from '../../api/core/v1/secret.ts'
import type { Volume } from '../../api/core/v1/volume.ts'
import type { Disk } from '../../machine/disk/disk.ts'
import type { NodeFacts } from '../pod-config/field-values.ts'

/** What volumes are made of beside the disk. */
export interface VolumeSources {
  configMap(namespace: string, name: string, context: Context): Promise<ConfigMap | undefined>
  secret(namespace: string, name: string, context: Context): Promise<Secret | undefined>
  /** A token of the pod's account, renewed before it expires. */
  token(pod: Pod, audience: string | undefined, expirationSeconds: number, context: Context): Promise<string>
}

export interface VolumeWork {
  readonly pod: Pod
  readonly volume: Volume
  /** Where a volume of this pod and type lies; made by the type that needs it. */
  readonly folder: string
  readonly podIps: readonly string[]
  readonly node: NodeFacts
  readonly disk: Disk
  readonly sources: VolumeSources
  readonly clock: Clock
  readonly context: Context
}

export interface VolumeType {
  /** The field of a volume that asks for it. */
  readonly name: keyof Volume
  /** How its folder is called. */
  readonly folderName: string
  /** Makes it present; returns the path that containers see. Throws VolumeError when it cannot be had now. */
  mount(work: VolumeWork): Promise<string>
  /** Whether the pod's group owns what is in it. */
  readonly takesGroup: boolean
}

export const defineVolumeType = (type: VolumeType): VolumeType => type

/** The volume cannot be had now; it will be tried again. */
export class VolumeError extends Error {
  override name = 'VolumeError'
}
