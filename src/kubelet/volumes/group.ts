// A volume that containers write to belongs to the pod's group, where the pod has one.
import type { VolumeWork } from './volume-type.ts'

/** With `OnRootMismatch` a volume whose own folder is right is taken to be right: large ones are not walked each time. */
export async function giveToPodGroup(path: string, { pod, disk }: Pick<VolumeWork, 'pod' | 'disk'>): Promise<void> {
  const { fsGroup, fsGroupChangePolicy } = pod.spec.securityContext ?? {}
  if (fsGroup === undefined) return
  if (fsGroupChangePolicy === 'OnRootMismatch' && (await disk.belongsToGroup(path, fsGroup))) return
  await disk.giveToGroup(path, fsGroup)
}
