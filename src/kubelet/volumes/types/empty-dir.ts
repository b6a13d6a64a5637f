// emptyDir: a directory with the lifetime of its pod, on disk, in memory or in huge pages.
import type { Pod } from '../../../api/core/v1/pod/pod.ts'
import { quantityUnits } from '../../../schema/scalar/quantity.ts'
import { applyFsGroup } from '../files/fs-group.ts'
import { defineVolumeType, VolumeError } from '../contract/volume-type.ts'

const hugePages = 'HugePages'
const hugePagesResource = 'hugepages-'

export const emptyDirVolume = defineVolumeType({
  name: 'emptyDir',
  directoryName: 'empty-dir',
  tracksApiObjects: false,
  async mount(work, { disk }, context) {
    const {
      directory,
      volume: { emptyDir },
    } = work
    if (emptyDir === undefined) throw new VolumeError('the volume is not an emptyDir')
    const { medium = '', sizeLimit } = emptyDir
    const isHuge = medium.startsWith(hugePages)
    if (medium !== '' && medium !== 'Memory' && !isHuge)
      throw new VolumeError(`unknown storage medium ${JSON.stringify(medium)}`)
    const isNew = (await disk.kindOf(directory)) === undefined
    if (isNew) await disk.makeDirectory(directory, 0o777)
    if (medium !== '' && !(await disk.mountsBelow(directory)).includes(directory)) {
      if (isHuge) await disk.mountHugetlbfs(directory, pageBytesOf(work.pod, medium))
      else await disk.mountTmpfs(directory, sizeLimit === undefined ? undefined : quantityUnits(sizeLimit))
      await disk.makeDirectory(directory, isHuge ? 0o777 : 0o1777)
    }
    // Ownership is only set when the directory is new; afterwards it belongs to the containers.
    if (isNew) await applyFsGroup(directory, work, disk, context)
    return { path: directory, readOnly: false }
  },
})

/** The page size: explicit in `HugePages-2Mi`; `HugePages` means the only size that the pod requests. */
function pageBytesOf({ spec }: Pod, medium: string): number {
  const sizes = new Set(
    [...(spec.initContainers ?? []), ...spec.containers, { resources: spec.resources ?? {} }]
      .flatMap(({ resources }) => Object.keys(resources.requests ?? {}))
      .filter((name) => name.startsWith(hugePagesResource))
      .map((name) => quantityUnits(name.slice(hugePagesResource.length))),
  )
  const wanted = medium === hugePages ? [...sizes] : [quantityUnits(medium.slice(`${hugePages}-`.length))]
  if (wanted.length > 1)
    throw new VolumeError(`medium ${medium} can't be used if container requests multiple huge page sizes`)
  const [bytes] = wanted
  if (bytes === undefined || !sizes.has(bytes))
    throw new VolumeError(
      `medium ${medium}: hugePages storage requested, but there is no resource request for huge pages`,
    )
  return bytes
}
