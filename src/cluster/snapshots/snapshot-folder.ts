// The folder of scheduled snapshots. It may have files of other clusters and of users, which are never removed.
import { lstat, readdir, rm } from 'node:fs/promises'
import { readSnapshotHeader, type SnapshotHeader } from '../data-directory/snapshot-file.ts'

/** Further files are not considered. */
const filesMax = 10_000
const namePattern = /^coxswain-[-0-9TZ]+\.snapshot$/
/** What an attempt that was killed leaves. */
const leftoverPattern = /^coxswain-[-0-9TZ]+\.snapshot\.\d+(\.volumes)?\.tmp$/

export interface FoundSnapshot {
  readonly path: string
  readonly bytes: number
  readonly atMs: number
  readonly header: SnapshotHeader
}

/** The name of a snapshot that is taken at a time. Names are in the order of times. */
export const snapshotName = (rfc3339: string): string => `coxswain-${rfc3339.replaceAll(':', '-')}.snapshot`

/** The complete snapshots of a folder that a schedule took, newest first; without a cluster, those of all clusters. */
export async function findSnapshots(folder: string, cluster?: string): Promise<readonly FoundSnapshot[]> {
  const found: FoundSnapshot[] = []
  for (const name of await namesIn(folder, namePattern)) {
    const path = `${folder}/${name}`
    const header = await readSnapshotHeader(path)
    const atMs = Date.parse(header?.createdAt ?? '')
    if (header?.cluster === undefined || (cluster !== undefined && header.cluster !== cluster) || Number.isNaN(atMs))
      continue
    const { size: bytes } = await lstat(path)
    found.push({ path, bytes, atMs, header })
  }
  return found.toSorted((a, b) => b.atMs - a.atMs)
}

/** Removes the oldest snapshots of a cluster beyond a number; returns their paths. */
export async function removeOldSnapshots(folder: string, cluster: string, keep: number): Promise<readonly string[]> {
  const old = (await findSnapshots(folder, cluster)).slice(keep).map(({ path }) => path)
  for (const path of old) await rm(path, { force: true })
  return old
}

/** Only one process takes snapshots into a folder, so an unfinished one has ended. */
export async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await namesIn(folder, leftoverPattern)) await rm(`${folder}/${name}`, { force: true })
}

/** Files only. A link could lead anywhere. */
async function namesIn(folder: string, pattern: RegExp): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  const names = entries.filter((entry) => entry.isFile() && pattern.test(entry.name)).map(({ name }) => name)
  return names.toSorted().slice(-filesMax)
}
