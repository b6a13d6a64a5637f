// projected: files of several sources in one folder, the pod's own token among them, in memory.
import type { VolumeProjection } from '../../api/core/v1/volume.ts'
import { configMapFiles, downwardFiles, secretFiles } from './object-files.ts'
import type { Files } from './projected-files.ts'
import { defineVolumeType, VolumeError, type VolumeWork } from './volume-type.ts'

export const projectedVolume = defineVolumeType({
  name: 'projected',
  folderName: 'projected',
  takesGroup: true,
  async mount(work) {
    const { projected } = work.volume
    if (projected === undefined) throw new VolumeError('the volume is not projected')
    const files: Files = new Map()
    for (const source of projected.sources ?? [])
      for (const [path, file] of await filesOf(source, projected.defaultMode, work)) files.set(path, file)
    await work.disk.makeFolder(work.folder, 0o755)
    await work.disk.mountMemory(work.folder, undefined)
    await work.disk.project(work.folder, files)
    return work.folder
  },
})

async function filesOf(source: VolumeProjection, defaultMode: number, work: VolumeWork): Promise<Files> {
  const { configMap, secret, downwardAPI, serviceAccountToken } = source
  if (configMap !== undefined) {
    const { name = '', items, optional } = configMap
    return configMapFiles({ name, items, optional }, defaultMode, work)
  }
  if (secret !== undefined) {
    const { name = '', items, optional } = secret
    return secretFiles({ name, items, optional }, defaultMode, work)
  }
  if (downwardAPI !== undefined) return downwardFiles(downwardAPI.items ?? [], defaultMode, work)
  if (serviceAccountToken !== undefined) {
    const { audience, expirationSeconds, path } = serviceAccountToken
    const token = await work.sources.token(work.pod, audience, expirationSeconds, work.context)
    return new Map([[path, { content: new TextEncoder().encode(token), mode: tokenMode(defaultMode, work) }]])
  }
  throw new VolumeError('the projected source is not supported')
}

/** A token is nobody else's business: only when a group was asked for may the group read it. */
function tokenMode(defaultMode: number, { pod: { spec } }: VolumeWork): number {
  if (spec.securityContext?.fsGroup !== undefined) return 0o640
  const users = spec.containers.map(
    ({ securityContext }) => securityContext?.runAsUser ?? spec.securityContext?.runAsUser,
  )
  const isOneUser = users[0] !== undefined && users.every((user) => user === users[0])
  return isOneUser ? 0o600 : defaultMode
}
