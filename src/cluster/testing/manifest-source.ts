// Where a test's manifest comes from: YAML, objects, or files that a path, a pattern or a URL names.
import { glob, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { manifestObjects, type Manifest, type ManifestObject } from '../manifests/manifest.ts'
import type { FileUrl } from './read-definitions.ts'

/** YAML, objects, `manifests/app.yaml`, `manifests/*.yaml`, or the URL of a file. */
export type ManifestSource = Manifest | FileUrl

const filesMax = 1_000

/** The objects of all files, in the order of their names. */
export async function readManifest(source: ManifestSource): Promise<readonly ManifestObject[]> {
  const pattern = patternOf(source)
  if (pattern === undefined) return manifestObjects(source)
  const paths = (await Array.fromAsync(glob(pattern))).toSorted()
  if (paths.length === 0) throw new Error(`no file matches ${pattern}`)
  if (paths.length > filesMax) throw new Error(`${pattern} matches more than ${filesMax} files`)
  const read = await Promise.all(paths.map((path) => objectsOf(path)))
  return read.flat()
}

async function objectsOf(path: string): Promise<readonly ManifestObject[]> {
  const text = await readFile(path, 'utf8')
  try {
    return await manifestObjects(text)
  } catch (error) {
    throw new Error(`${path}: ${(error as Error).message}`, { cause: error })
  }
}

/** A text of one line that ends like the name of a file is a path: no manifest ends so. */
function patternOf(source: ManifestSource): string | undefined {
  if (typeof source === 'string') return /^[^\n:{]+\.(?:json|ya?ml)$/.test(source) ? source : undefined
  return 'href' in source && typeof source.href === 'string' ? fileURLToPath(source.href) : undefined
}
