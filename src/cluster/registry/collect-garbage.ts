// Garbage collection of a registry's files: removes manifests and blobs that no tag leads to. Nothing else may use the files.
import { readFile, rm, stat } from 'node:fs/promises'
import type { Files } from '../../platform/files.ts'
import { isDigest } from './image-names.ts'
import { mediaTypeOf, referencesOf } from './manifest.ts'

/** Returns the bytes of the blobs that remain. */
export async function collectGarbage(folder: string, files: Files): Promise<number> {
  const used = new Set<string>()
  for (const name of await files.list(`${folder}/repositories`))
    for (const digest of await collectRepository(folder, name, files)) used.add(digest)
  let bytes = 0
  for (const name of await files.list(`${folder}/blobs`)) {
    const path = `${folder}/blobs/${name}`
    if (used.has(name)) bytes += (await stat(path)).size
    else await rm(path, { force: true })
  }
  return bytes
}

/** Removes the manifests of a repository that have no tag; returns the blobs of the others, and those manifests. */
async function collectRepository(folder: string, name: string, files: Files): Promise<ReadonlySet<string>> {
  const repository = `${folder}/repositories/${name}`
  const used = new Set<string>()
  const manifests = new Set<string>()
  const pending: string[] = []
  for (const tag of await files.list(`${repository}/tags`)) {
    const digest = new TextDecoder().decode(await files.read(`${repository}/tags/${tag}`))
    if (isDigest(digest)) pending.push(digest)
    else await rm(`${repository}/tags/${tag}`)
  }
  for (let digest = pending.pop(); digest !== undefined; digest = pending.pop()) {
    if (manifests.has(digest)) continue
    manifests.add(digest)
    used.add(digest)
    const mediaType = await files.read(`${repository}/manifests/${digest}`)
    if (mediaType === undefined) continue
    const references = referencesOf(
      await readFile(`${folder}/blobs/${digest}`),
      mediaTypeOf(new TextDecoder().decode(mediaType)),
    )
    for (const blob of references.blobs) used.add(blob)
    pending.push(...references.manifests)
  }
  for (const digest of await files.list(`${repository}/manifests`))
    if (!manifests.has(digest)) await rm(`${repository}/manifests/${digest}`)
  return used
}
