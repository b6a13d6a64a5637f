// Opens a path inside a directory that containers can write to, such that no symbolic link leads out of it. Every name
// is opened relative to the descriptor of its parent without following links, so the opened file is the one that was
// checked.
import { constants } from 'node:fs'
import { chmod, mkdir, open, realpath, type FileHandle } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { PathEscapes } from './disk.ts'

/** O_PATH, which Node.js does not define. */
const onlyPath = 0o10000000
/** All bits, as that files inherit the group. */
const modeMask = 0o7777

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code

/** Opens the path and creates missing directories with the permissions of the volume. The caller closes the handle; `/proc/self/fd/<fd>` refers to it. */
export async function openBeneath(directory: string, subPath: string): Promise<FileHandle> {
  const escapes = () => new PathEscapes(`the path ${JSON.stringify(subPath)} leads out of its volume`)
  const names = subPath.split('/').filter((name) => name !== '' && name !== '.')
  if (names.includes('..')) throw escapes()
  const root = await realpath(directory)
  const resolved = relative(root, await resolvedAsFar(root, names))
  if (resolved === '..' || resolved.startsWith('../')) throw escapes()
  let at = await open(root, constants.O_RDONLY | onlyPath)
  const mode = (await at.stat()).mode & modeMask
  for (const name of resolved.split('/').filter((part) => part !== '')) {
    try {
      const next = await openBelow(at, name, mode)
      await at.close()
      at = next
    } catch (error) {
      await at.close()
      throw codeOf(error) === 'ELOOP' ? escapes() : error
    }
  }
  return at
}

/** Resolves links that stay inside the volume, such as those of projected files, as far as the path exists. */
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

async function openBelow(at: FileHandle, name: string, mode: number): Promise<FileHandle> {
  const path = `/proc/self/fd/${at.fd}/${name}`
  const isNew = await mkdir(path, { mode: 0o700 }).then(
    () => true,
    (error: unknown) => {
      if (codeOf(error) !== 'EEXIST') throw error
      return false
    },
  )
  const next = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | onlyPath)
  try {
    // O_PATH opens symbolic links without an error, so the type must be checked.
    if ((await next.stat()).isSymbolicLink()) throw Object.assign(new Error(`${name} is a link`), { code: 'ELOOP' })
    // Not when it is created, where the umask removes bits.
    if (isNew) await chmod(`/proc/self/fd/${next.fd}`, mode)
    return next
  } catch (error) {
    await next.close()
    throw error
  }
}
