// Access checks of a data directory: it must belong to the current user. Another user with write access could replace
// the cluster's keys.
import { readdirSync, statSync, type Stats } from 'node:fs'
import { userInfo } from 'node:os'
import { isPrivate } from './directory-contents.ts'

const writableByOthers = 0o022
const accessibleToOthers = 0o077

/** Throws with the path, the problem and the remedy. */
export function checkAccess(directory: string): void {
  const uid = process.getuid?.()
  if (uid === undefined) return // no owners on this platform
  for (const path of [directory, `${directory}/pki`]) {
    const stats = statIfPresent(path)
    if (stats === undefined) continue
    checkDirectory(path, stats, uid)
    for (const name of readdirSync(path)) if (isPrivate(name)) checkPrivateFile(`${path}/${name}`, uid)
  }
}

function checkDirectory(path: string, stats: Stats, uid: number): void {
  if (!stats.isDirectory()) throw new Error(`the data directory ${path} is not a directory; choose another --data-dir`)
  checkOwner(`the data directory ${path}`, path, stats, uid)
  if ((stats.mode & writableByOthers) !== 0)
    throw new Error(
      `the data directory ${path} can be written by others (mode ${modeText(stats)}), who could replace the cluster's keys; check what is in it, then: chmod go-w ${path}`,
    )
}

function checkPrivateFile(path: string, uid: number): void {
  const stats = statIfPresent(path)
  if (stats?.isFile() !== true) return
  checkOwner(path, path, stats, uid)
  if ((stats.mode & accessibleToOthers) !== 0)
    throw new Error(
      `${path} can be read or written by others (mode ${modeText(stats)}); if this was not exploited: chmod 600 ${path}`,
    )
}

function checkOwner(what: string, path: string, stats: Stats, uid: number): void {
  if (stats.uid === uid) return
  throw new Error(
    `${what} belongs to user ${stats.uid}, and this process runs as ${userInfo().username} (${uid}); run it as the owner, choose another --data-dir, or: chown -R ${uid} ${path}`,
  )
}

const modeText = ({ mode }: Stats): string => (mode & 0o7777).toString(8).padStart(4, '0')

function statIfPresent(path: string): Stats | undefined {
  try {
    return statSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
