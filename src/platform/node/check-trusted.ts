import type { Stats } from 'node:fs'

const writableByOthers = 0o022

/** Throws if another user could change a file or a folder whose content is trusted. Root is trusted. */
export function checkTrusted(path: string, { uid, mode }: Stats): void {
  const own = process.getuid?.()
  if (own === undefined) return // no owners on this platform
  if (uid !== own && uid !== 0) throw new Error(`${path} belongs to user ${uid}; to trust it: chown ${own} ${path}`)
  if ((mode & writableByOthers) !== 0)
    throw new Error(`${path} can be written by others; if its content is as it should be: chmod go-w ${path}`)
}
