// NodeDisk: the host's own files and mounts.
import { execFile } from 'node:child_process'
import { constants } from 'node:fs'
import {
  chmod,
  lchown,
  lstat,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  readlink,
  realpath,
  rename,
  rm,
  symlink,
  unlink,
  writeFile,
} from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { PathEscapes, type Disk, type DiskFile, type DiskKind, type Owner } from './disk.ts'
import { dataLink, visibleNames } from './projection.ts'

const run = promisify(execFile)

const isMissing = (error: unknown): boolean => {
  const { code } = error as NodeJS.ErrnoException
  return code === 'ENOENT' || code === 'ENOTDIR'
}

export class NodeDisk implements Disk {
  #written = 0

  async makeFolder(path: string, mode: number): Promise<void> {
    await mkdir(path, { recursive: true })
    await chmod(path, mode)
  }

  async write(path: string, { content, mode }: DiskFile): Promise<void> {
    const part = `${path}.${process.pid}.${++this.#written}`
    await writeFile(part, content, { mode })
    await chmod(part, mode)
    await rename(part, path)
  }

  async readEnd(path: string, bytesMax: number): Promise<Uint8Array | undefined> {
    try {
      await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
      const { size } = await file.stat()
      const length = Math.min(size, bytesMax)
      const { buffer, bytesRead } = await file.read(new Uint8Array(length), 0, length, size - length)
      return buffer.subarray(0, bytesRead)
    } catch (error) {
      if (isMissing(error) || (error as NodeJS.ErrnoException).code === 'ELOOP') return undefined
      throw error
    }
  }

  async project(folder: string, files: ReadonlyMap<string, DiskFile>): Promise<void> {
    if (await this.#holds(folder, files)) return
    const before = await readlink(join(folder, dataLink)).catch(() => undefined)
    const made = await mkdtemp(join(folder, '..generation-'))
    await chmod(made, 0o755)
    const generation = basename(made)
    for (const [path, { content, mode }] of files) {
      const target = join(folder, generation, path)
      await mkdir(dirname(target), { recursive: true, mode: 0o755 })
      await writeFile(target, content)
      await chmod(target, mode)
    }
    await symlink(generation, join(folder, `${dataLink}_new`))
    await rename(join(folder, `${dataLink}_new`), join(folder, dataLink))
    await this.#showNames(folder, visibleNames(files.keys()))
    if (before !== undefined) await rm(join(folder, before), { recursive: true, force: true })
  }

  async #showNames(folder: string, wanted: ReadonlySet<string>): Promise<void> {
    const shown = new Set((await readdir(folder)).filter((name) => !name.startsWith('..')))
    for (const name of wanted) if (!shown.has(name)) await symlink(join(dataLink, name), join(folder, name))
    for (const name of shown) if (!wanted.has(name)) await unlink(join(folder, name))
  }

  async #holds(folder: string, files: ReadonlyMap<string, DiskFile>): Promise<boolean> {
    const data = join(folder, dataLink)
    const present = await readdir(data, { recursive: true, withFileTypes: true }).catch(() => undefined)
    if (present === undefined || present.filter((entry) => entry.isFile()).length !== files.size) return false
    for (const [path, { content, mode }] of files) {
      const [bytes, status] = await Promise.all([
        readFile(join(data, path)).catch(() => undefined),
        lstat(join(data, path)).catch(() => undefined),
      ])
      if (bytes === undefined || status === undefined) return false
      if ((status.mode & 0o777) !== mode || !bytes.equals(content)) return false
    }
    return true
  }

  async give(path: string, owner: Owner, groupWrites: boolean): Promise<void> {
    const status = await lstat(path)
    await lchown(path, owner.uid ?? status.uid, owner.gid ?? status.gid)
    if (status.isSymbolicLink()) return
    // What the owner may do the group may do; in folders new files stay the group's.
    if (groupWrites) await chmod(path, (status.mode & 0o777) | (status.isDirectory() ? 0o2770 : 0o660))
    if (!status.isDirectory()) return
    for (const name of await readdir(path)) await this.give(join(path, name), owner, groupWrites)
  }

  async kindOf(path: string): Promise<DiskKind | undefined> {
    try {
      const status = await lstat(await realpath(path))
      if (status.isFile()) return 'file'
      if (status.isDirectory()) return 'folder'
      if (status.isSocket()) return 'socket'
      if (status.isCharacterDevice()) return 'character-device'
      return status.isBlockDevice() ? 'block-device' : 'other'
    } catch (error) {
      if (isMissing(error)) return undefined
      throw error
    }
  }

  async inside(folder: string, subPath: string): Promise<string> {
    const root = await realpath(folder)
    let at = root
    for (const name of subPath.split('/').filter((part) => part !== '' && part !== '.')) {
      if (name === '..') throw new PathEscapes(`the path ${JSON.stringify(subPath)} leads out of its volume`)
      const next = join(at, name)
      await mkdir(next, { mode: 0o750 }).catch((error: unknown) => {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      })
      at = await realpath(next)
      if (at !== root && !at.startsWith(`${root}/`))
        throw new PathEscapes(`the path ${JSON.stringify(subPath)} leads out of its volume`)
    }
    return at
  }

  async remove(path: string): Promise<void> {
    const mounts = await this.mountsBelow(path)
    if (mounts.length > 0) throw new Error(`${path} is not removed: something is mounted at ${mounts.join(', ')}`)
    await rm(path, { recursive: true, force: true })
  }

  async list(path: string): Promise<readonly string[]> {
    return readdir(path).catch((error: unknown) => {
      if (isMissing(error)) return []
      throw error
    })
  }

  async mountMemory(path: string, bytesMax: number | undefined): Promise<void> {
    if ((await this.mountsBelow(path)).includes(path)) return
    const options = bytesMax === undefined ? [] : ['-o', `size=${bytesMax}`]
    await run('mount', ['-t', 'tmpfs', ...options, 'tmpfs', path])
  }

  async mountBind(from: string, to: string): Promise<void> {
    await run('mount', ['--bind', from, to])
  }

  async unmount(path: string): Promise<void> {
    if (!(await this.mountsBelow(path)).includes(path)) return
    await run('umount', [path])
  }

  async mountsBelow(path: string): Promise<readonly string[]> {
    const lines = (await readFile('/proc/self/mountinfo', 'utf8')).trim().split('\n')
    const places = lines.map((line) => unescaped(line.split(' ')[4] ?? ''))
    return places.filter((place) => place === path || place.startsWith(`${path}/`))
  }

  async usedBytes(path: string): Promise<number> {
    const status = await lstat(path).catch((error: unknown) => {
      if (isMissing(error)) return undefined
      throw error
    })
    if (status === undefined) return 0
    if (!status.isDirectory()) return status.blocks * 512
    const names = await this.list(path)
    const sizes = await Promise.all(names.map((name) => this.usedBytes(join(path, name))))
    return sizes.reduce((sum, size) => sum + size, 0)
  }
}

/** The kernel writes blanks in paths as octal. */
const unescaped = (path: string): string =>
  path.replaceAll(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)))
