// A path inside a folder that others may write to, opened so that no link leads out of it. Each name is opened below the
// descriptor of the one before and no link is followed, so what was checked is what is held, whoever moves it afterwards.
import { constants } from 'node:fs'
import { mkdir, open, realpath, type FileHandle } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { PathEscapes } from './disk.ts'

/** Linux: a descriptor that only names a place. Node.js does not list it. */
const onlyPath = 0o10000000
const folderMode = 0o750

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code

/** The caller closes it; `/proc/self/fd/<fd>` is what it holds. Folders that are missing are made. */
export async function openBeneath(folder: string, subPath: string): Promise<FileHandle> {
  const escapes = () => new PathEscapes(`the path ${JSON.stringify(subPath)} leads out of its volume`)
  const names = subPath.split('/').filter((name) => name !== '' && name !== '.')
  if (names.includes('..')) throw escapes()
  const root = await realpath(folder)
  const resolved = relative(root, await resolvedAsFar(root, names))
  if (resolved === '..' || resolved.startsWith('../')) throw escapes()
  let at = await open(root, constants.O_RDONLY | onlyPath)
  for (const name of resolved.split('/').filter((part) => part !== '')) {
    try {
      const next = await openBelow(at, name)
      await at.close()
      at = next
    } catch (error) {
      await at.close()
      throw codeOf(error) === 'ELOOP' ? escapes() : error
    }
  }
  return at
}

/** Links inside a volume are fine, such as those of projected files: follows them up to what is there. */
async function resolvedAsFar(root: string, names: readonly string[]): Promise<string> {
  for (let count = names.length; count > 0; count--) {
    try {
      return join(await realpath(join(root, ...names.slice(0, count))), ...names.slice(count))
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error
    }
  }
  return join(root, ...names)
}

async function openBelow(at: FileHandle, name: string): Promise<FileHandle> {
  const path = `/proc/self/fd/${at.fd}/${name}`
  await mkdir(path, { mode: folderMode }).catch((error: unknown) => {
    if (codeOf(error) !== 'EEXIST') throw error
  })
  const next = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | onlyPath)
  // Opened only to name it, even a link is no error: it must be looked at.
  if (!(await next.stat()).isSymbolicLink()) return next
  await next.close()
  throw Object.assign(new Error(`${name} is a link`), { code: 'ELOOP' })
}
