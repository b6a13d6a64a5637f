// csi: a volume of a storage driver with the lifetime of its pod.
import type { Context } from '../../../base/observability/context.ts'
import {
  defineVolumeType,
  VolumeError,
  type MountedVolume,
  type PodVolume,
  type VolumeDeps,
} from '../contract/volume-type.ts'

export const csiVolume = defineVolumeType({
  name: 'csi',
  directoryName: 'csi',
  tracksApiObjects: false,
  mayWait: true,
  mount: mountInline,
  /** A driver may require that its volumes are published again. */
  async recheck(work, deps, context) {
    await mountInline(work, deps, context)
  },
  /** Only their drivers may unmount volumes of storage drivers, also those of claims. */
  async unmount({ podUid, unmountSubPaths }, { csi }, context) {
    if (csi === undefined) return
    await unmountSubPaths()
    await csi.unmountPod(podUid, context)
  },
})

async function mountInline(work: PodVolume, { csi }: VolumeDeps, context: Context): Promise<MountedVolume> {
  if (csi === undefined) throw new VolumeError('volumes of storage drivers are not supported on this node')
  return csi.mountInline(work, context)
}
