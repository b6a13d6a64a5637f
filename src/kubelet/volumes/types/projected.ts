// projected: files from several sources in one directory in memory, including the pod's service account token.
import type { Context } from '../../../base/observability/context.ts'
import type { VolumeProjection } from '../../../api/core/v1/volume/file-volume-sources.ts'
import type { DiskFile } from '../../../machine/disk/disk.ts'
import { configMapFiles, downwardFiles, secretFiles } from '../files/object-files.ts'
import type { Files } from '../files/key-files.ts'
import { mountFiles } from '../files/mount-files.ts'
import { defineVolumeType, VolumeError, type PodVolume, type VolumeDeps } from '../contract/volume-type.ts'

export const projectedVolume = defineVolumeType({
  name: 'projected',
  directoryName: 'projected',
  tracksApiObjects: true,
  async mount(work, deps, context) {
    const { projected } = work.volume
    if (projected === undefined) throw new VolumeError('the volume is not projected')
    const files: Files = new Map()
    for (const source of projected.sources ?? [])
      for (const [path, file] of await filesOf(source, projected.defaultMode, work, deps, context))
        files.set(path, file)
    return mountFiles(work, files, 'memory', deps.disk, context)
  },
})

async function filesOf(
  source: VolumeProjection,
  defaultMode: number,
  work: PodVolume,
  { sources, node }: VolumeDeps,
  context: Context,
): Promise<Files> {
  const { configMap, secret, downwardAPI, serviceAccountToken } = source
  if (configMap !== undefined) {
    const { name = '', items, optional } = configMap
    return configMapFiles({ name, items, optional }, defaultMode, work, sources, context)
  }
  if (secret !== undefined) {
    const { name = '', items, optional } = secret
    return secretFiles({ name, items, optional }, defaultMode, work, sources, context)
  }
  if (downwardAPI !== undefined) return downwardFiles(downwardAPI.items ?? [], defaultMode, work, node)
  if (serviceAccountToken !== undefined) {
    const { audience, expirationSeconds, path } = serviceAccountToken
    const content = async (signal: AbortSignal) =>
      new TextEncoder().encode(await sources.token(work.pod, audience, expirationSeconds, { ...context, signal }))
    return new Map([[path, { content, ...tokenOwner(defaultMode, work) }]])
  }
  const [kind = 'empty'] = Object.keys(source)
  throw new VolumeError(`projected sources of type ${kind} are not supported on this node`)
}

/** The owner and mode of a token file: private to the user if all containers run as the same one, or to the fsGroup. */
function tokenOwner(defaultMode: number, { pod: { spec } }: PodVolume): Pick<DiskFile, 'mode' | 'uid'> {
  const containers = [...(spec.initContainers ?? []), ...spec.containers]
  const users = new Set(
    containers.map(({ securityContext }) => securityContext?.runAsUser ?? spec.securityContext?.runAsUser),
  )
  const [uid] = users
  if (users.size === 1 && uid !== undefined) return { mode: 0o600, uid }
  return { mode: spec.securityContext?.fsGroup === undefined ? defaultMode : 0o600 }
}
