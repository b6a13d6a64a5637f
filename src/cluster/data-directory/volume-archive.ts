// The content of the volumes of the class local-path as an archive, for snapshots. tar keeps owners, modes, links and
// sparse files, and does not leave the directory when it unpacks.
import { existsSync } from 'node:fs'
import { lstat, open, rename, rm } from 'node:fs/promises'
import { nodePlatform } from '../../platform/node/platform.ts'

const folder = 'local-path'
const attributes = ['--numeric-owner', '--xattrs', '--acls', '--sparse'] as const
/** tar's exit code if files were changed while it read them. */
const changedCode = 1

export const volumesPart = 'volumes.tar'

/** The directory of all volumes on this machine. */
export const volumesOf = (directory: string): string => `${directory}/node/${folder}`

/** The names of the volumes that this machine holds. */
export const volumeNames = (directory: string): Promise<readonly string[]> =>
  nodePlatform.files.list(volumesOf(directory))

/** Returns whether files were changed meanwhile: then the copy is like that of a machine that lost power. */
export async function archiveVolumes(directory: string, to: string, signal: AbortSignal): Promise<boolean> {
  // Volumes may hold secrets; tar keeps the mode of a file that exists.
  await (await open(to, 'wx', 0o600)).close()
  const args = ['--create', '--file', to, '--directory', `${directory}/node`, ...attributes, folder]
  const { code, stderr } = await nodePlatform.processes.run('tar', args, {}, signal)
  if (code > changedCode) throw new Error(`the volumes cannot be read: ${lastLine(stderr)}`)
  return code === changedCode
}

/** Unpacks beside the present volumes. `replace` exchanges them, and keeps the previous ones. */
export async function unpackVolumes(archive: string, directory: string, signal: AbortSignal): Promise<UnpackedVolumes> {
  const fresh = `${directory}/node/${folder}.fresh`
  const present = volumesOf(directory)
  const kept = `${present}.before-restore`
  const discard = () => rm(fresh, { recursive: true, force: true })
  await discard()
  await nodePlatform.files.makeDirectory(fresh)
  const args = ['--extract', '--file', archive, '--directory', fresh, '--same-owner', '--preserve-permissions']
  const { code, stderr } = await nodePlatform.processes.run('tar', [...args, ...attributes], {}, signal)
  // Of another archive than one of `archiveVolumes`, the directory may be a link, or not be there.
  const isDirectory = (await lstat(`${fresh}/${folder}`).catch(() => undefined))?.isDirectory() === true
  if (code !== 0 || !isDirectory) {
    await discard()
    const why = code === 0 ? `the archive has no directory ${folder}` : lastLine(stderr)
    throw new Error(`the volumes cannot be unpacked: ${why}`)
  }
  return {
    discard,
    async replace(isRepeated) {
      // What an interrupted restore left are not the previous volumes.
      const hasKept = isRepeated && existsSync(kept)
      const isPrevious = !hasKept && (await volumeNames(directory)).length > 0
      if (isPrevious) {
        await rm(kept, { recursive: true, force: true })
        await rename(present, kept)
      } else await rm(present, { recursive: true, force: true })
      await rename(`${fresh}/${folder}`, present)
      return hasKept || isPrevious ? kept : undefined
    },
  }
}

export interface UnpackedVolumes {
  /** Returns where the previous volumes are now. */
  replace(isRepeated: boolean): Promise<string | undefined>
  discard(): Promise<void>
}

const lastLine = (text: string): string => text.trim().split('\n').at(-1) ?? ''
