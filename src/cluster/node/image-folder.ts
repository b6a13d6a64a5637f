// The folder of image archives of a node, for machines that reach no registry: they are loaded before the node is ready. What was
// loaded is recorded, so that a restart reads only archives that are new or have changed, or whose images are gone.
import { readdir, stat } from 'node:fs/promises'
import type { Stats } from 'node:fs'
import { join } from 'node:path'
import { errorText, type Log } from '../../base/observability/log.ts'
import type { Files } from '../../platform/files.ts'
import { checkTrusted } from '../../platform/node/check-trusted.ts'
import { importImages, type ImportDeps } from './import-images.ts'

const archiveName = /^[^.].*\.(tar|tar\.gz|tgz|tar\.zst)$/
const archivesMax = 1_000
/** Large archives take minutes on slow disks. A node must start even if one never ends. */
const loadMsMax = 30 * 60_000

export interface ImageFolderDeps extends ImportDeps {
  readonly files: Files
  readonly log: Log
}

interface LoadedArchive {
  readonly version: string
  readonly images: readonly string[]
}

/** Archives that cannot be loaded are logged, and the node starts without their images. `record` is a file. */
export async function loadImageFolder(
  folder: string,
  record: string,
  deps: ImageFolderDeps,
  signal: AbortSignal,
): Promise<void> {
  const { files, log, clock } = deps
  const late = new AbortController()
  const timer = clock.after(loadMsMax, () => late.abort(new Error(`it took more than ${loadMsMax / 60_000} minutes`)))
  const bound = AbortSignal.any([signal, late.signal])
  const before = await recordedIn(record, files)
  const loaded = new Map<string, LoadedArchive>()
  try {
    for (const name of await archivesIn(folder)) {
      const path = join(folder, name)
      try {
        const stats = await stat(path)
        checkTrusted(path, stats)
        const version = versionOf(stats)
        const known = before.get(name)
        const isLoaded = known?.version === version && (await areKnown(known.images, deps, bound))
        const images = isLoaded ? known.images : await importImages(path, deps, bound)
        loaded.set(name, { version, images })
        if (!isLoaded) log.info('an archive of images was loaded', { archive: path, images: images.join(' ') })
      } catch (error) {
        signal.throwIfAborted()
        log.warn('an archive of images cannot be loaded', { archive: path, error: errorText(error) })
      }
    }
  } catch (error) {
    signal.throwIfAborted()
    log.warn('the folder of images cannot be read', { folder, error: errorText(error) })
  } finally {
    timer.cancel()
  }
  if (loaded.size > 0 || before.size > 0) await files.write(record, JSON.stringify(Object.fromEntries(loaded)))
}

async function archivesIn(folder: string): Promise<readonly string[]> {
  const stats = await stat(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (stats === undefined) return []
  checkTrusted(folder, stats)
  const names = (await readdir(folder)).filter((name) => archiveName.test(name))
  if (names.length > archivesMax) throw new Error(`it has ${names.length} archives; ${archivesMax} are allowed`)
  return names.toSorted()
}

const versionOf = ({ size, mtimeMs, ino }: Stats): string => `${size} ${mtimeMs} ${ino}`

async function areKnown(images: readonly string[], { runtime }: ImportDeps, signal: AbortSignal): Promise<boolean> {
  for (const image of images) if ((await runtime.findImage(image, signal)) === undefined) return false
  return true
}

/** By the names of archives. A record that cannot be read is none: everything is loaded again. */
async function recordedIn(path: string, files: Files): Promise<ReadonlyMap<string, LoadedArchive>> {
  const bytes = await files.read(path)
  if (bytes === undefined) return new Map()
  try {
    return new Map(Object.entries(JSON.parse(new TextDecoder().decode(bytes)) as Record<string, LoadedArchive>))
  } catch {
    return new Map()
  }
}
