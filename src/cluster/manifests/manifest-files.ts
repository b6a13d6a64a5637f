// The files of a folder of manifests. Their objects are applied with all permissions, so no other user may be able to write them.
import { readdir, readFile, stat } from 'node:fs/promises'
import type { Stats } from 'node:fs'
import { join } from 'node:path'
import { checkTrusted } from '../../platform/node/check-trusted.ts'

export interface ManifestFile {
  /** Relative to the folder. */
  readonly name: string
  readonly path: string
  /** Another one means that the file may have changed. */
  readonly version: string
}

const filesMax = 1_000
const foldersDeepMax = 8
const fileBytesMax = 16 * 1024 * 1024
const manifestName = /\.(ya?ml|json)$/

/** In the order of their names, with those of inner folders; undefined if there is no such folder. */
export async function manifestFiles(folder: string): Promise<readonly ManifestFile[] | undefined> {
  if ((await statIfPresent(folder)) === undefined) return undefined
  const files: ManifestFile[] = []
  await collect(folder, '', files, 1)
  return files.toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

/** The content of a file, which must be text of a bounded size. */
export async function readManifestFile({ path }: ManifestFile): Promise<string> {
  const stats = await stat(path)
  checkTrusted(path, stats)
  if (stats.size > fileBytesMax) throw new Error(`it has ${stats.size} bytes; ${fileBytesMax} are allowed`)
  return new TextDecoder('utf-8', { fatal: true }).decode(await readFile(path))
}

async function collect(folder: string, prefix: string, files: ManifestFile[], depth: number): Promise<void> {
  checkTrusted(folder, await stat(folder))
  if (depth > foldersDeepMax) throw new Error(`${folder}: folders are nested more than ${foldersDeepMax} deep`)
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const { name } = entry
    // What editors and mounts of ConfigMaps keep beside the files.
    if (name.startsWith('.')) continue
    const path = join(folder, name)
    if (entry.isDirectory()) await collect(path, `${prefix}${name}/`, files, depth + 1)
    if (!manifestName.test(name)) continue
    // A link may lead to a file, and not to a folder, which could contain the link.
    const stats = await statIfPresent(path)
    if (stats?.isFile() !== true) continue
    if (files.length === filesMax) throw new Error(`${folder}: there are more than ${filesMax} manifests`)
    files.push({
      name: `${prefix}${name}`,
      path,
      version: `${stats.ino} ${stats.mtimeMs} ${stats.ctimeMs} ${stats.size}`,
    })
  }
}

async function statIfPresent(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
