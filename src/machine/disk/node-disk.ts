// NodeDisk: files and mounts of the host.
import { execFile } from 'node:child_process'
import { constants } from 'node:fs'
import {
  chmod,
  chown,
  lchown,
  lstat,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  symlink,
  unlink,
  writeFile,
} from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { SerialOperations } from '../../base/async/serial-operations.ts'
import { TreeTooDeep, type Disk, type DiskFile, type DiskKind, type ProjectedFile } from './disk.ts'
import { formatIfEmpty, growFileSystem } from './node-device.ts'
import { openBeneath } from './node-open-beneath.ts'
import { walkTree, type TreeEntry } from './node-tree.ts'
import { dataLink, visibleNames } from './projection.ts'

const run = promisify(execFile)

const isMissing = (error: unknown): boolean => {
  const { code } = error as NodeJS.ErrnoException
  return code === 'ENOENT' || code === 'ENOTDIR'
}

const isTooLong = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENAMETOOLONG'

/** The unit of `stat.blocks`. */
const blockBytes = 512

/** Where `mount` searches for programs that mount a type. */
const helperDirectories = ['/sbin', '/usr/sbin', '/usr/local/sbin', '/bin', '/usr/bin']
/** A server that does not answer must not block the pod forever. */
const networkMountMsMax = 120_000

const { signal: unending } = new AbortController()

async function loadAll(
  files: ReadonlyMap<string, ProjectedFile>,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, DiskFile>> {
  const loaded = new Map<string, DiskFile>()
  for (const [path, { content, ...rest }] of files)
    loaded.set(path, { ...rest, content: typeof content === 'function' ? await content(signal) : content })
  return loaded
}

export class NodeDisk implements Disk {
  #written = 0
  /** Two pods that start at once must not both format a device. */
  readonly #devices = new SerialOperations()

  async makeDirectory(path: string, mode: number): Promise<void> {
    await mkdir(path, { recursive: true })
    await chmod(path, mode)
  }

  async write(path: string, { content, mode }: DiskFile): Promise<void> {
    const part = `${path}.${process.pid}.${++this.#written}`
    await writeFile(part, content, { mode })
    await chmod(part, mode)
    await rename(part, path)
  }

  async readTail(path: string, bytesMax: number): Promise<Uint8Array | undefined> {
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

  async project(
    directory: string,
    projected: ReadonlyMap<string, ProjectedFile>,
    gid: number | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const files = await loadAll(projected, signal)
    if (await this.#holds(directory, files, gid)) return
    const made = await mkdtemp(join(directory, generationPrefix))
    await chmod(made, 0o755)
    for (const [path, { content, mode, uid }] of files) {
      const target = join(made, path)
      await mkdir(dirname(target), { recursive: true, mode: 0o755 })
      await writeFile(target, content)
      await chmod(target, mode)
      if (uid !== undefined) await lchown(target, uid, 0)
    }
    if (gid !== undefined) await grantToGroup(directory, gid, 'reads', signal)
    // An interrupted run may have left its link.
    await rm(join(directory, `${dataLink}_new`), { force: true })
    await symlink(basename(made), join(directory, `${dataLink}_new`))
    await rename(join(directory, `${dataLink}_new`), join(directory, dataLink))
    await this.#showNames(directory, visibleNames(files.keys()))
    for (const name of await readdir(directory))
      if (name.startsWith(generationPrefix) && name !== basename(made))
        await rm(join(directory, name), { recursive: true, force: true })
  }

  async #showNames(directory: string, wanted: ReadonlySet<string>): Promise<void> {
    const visible = new Set((await readdir(directory)).filter((name) => !name.startsWith('..')))
    for (const name of wanted) if (!visible.has(name)) await symlink(join(dataLink, name), join(directory, name))
    for (const name of visible) if (!wanted.has(name)) await unlink(join(directory, name))
  }

  async #holds(directory: string, files: ReadonlyMap<string, DiskFile>, gid?: number): Promise<boolean> {
    const data = join(directory, dataLink)
    const present = await readdir(data, { recursive: true, withFileTypes: true }).catch(() => undefined)
    if (present === undefined || present.filter((entry) => entry.isFile()).length !== files.size) return false
    for (const [path, { content, mode, uid = 0 }] of files) {
      const [bytes, status] = await Promise.all([
        readFile(join(data, path)).catch(() => undefined),
        lstat(join(data, path)).catch(() => undefined),
      ])
      if (bytes === undefined || status === undefined || !bytes.equals(content)) return false
      const wantedMode = gid === undefined ? mode : mode | groupBits.reads
      if ((status.mode & 0o777) !== wantedMode || status.uid !== (asRoot ? uid : status.uid)) return false
      if (gid !== undefined && status.gid !== gid) return false
    }
    return true
  }

  async changeGroup(path: string, gid: number, signal: AbortSignal): Promise<void> {
    // The volume's path itself may be a symbolic link; below it none is followed.
    await grantToGroup(await realpath(path), gid, 'writes', signal)
  }

  async hasGroup(path: string, gid: number): Promise<boolean> {
    const status = await lstat(path)
    const wanted = groupBits.writes | (status.isDirectory() ? directoryBits : 0)
    return status.gid === gid && (status.mode & wanted) === wanted
  }

  async kindOf(path: string): Promise<DiskKind | undefined> {
    try {
      const status = await lstat(await realpath(path))
      if (status.isFile()) return 'file'
      if (status.isDirectory()) return 'directory'
      if (status.isSocket()) return 'socket'
      if (status.isCharacterDevice()) return 'character-device'
      return status.isBlockDevice() ? 'block-device' : 'other'
    } catch (error) {
      if (isMissing(error)) return undefined
      throw error
    }
  }

  async mountSubPath(directory: string, subPath: string, to: string): Promise<void> {
    await using source = await openBeneath(directory, subPath)
    const wanted = await source.stat()
    if ((await this.mountsBelow(to)).includes(to)) {
      const present = await lstat(to)
      if (present.dev === wanted.dev && present.ino === wanted.ino) return
      await this.unmount(to)
    }
    await rm(to, { recursive: true, force: true })
    if (wanted.isDirectory()) await mkdir(to, { recursive: true })
    else {
      await mkdir(dirname(to), { recursive: true })
      await writeFile(to, '')
    }
    // The descriptor is mounted instead of a path, so it cannot be replaced in between.
    await run('mount', ['--no-canonicalize', '--bind', `/proc/${process.pid}/fd/${source.fd}`, to])
  }

  async remove(path: string): Promise<void> {
    const mounts = await this.mountsBelow(path)
    if (mounts.length > 0) throw new Error(`${path} is not removed: something is mounted at ${mounts.join(', ')}`)
    try {
      await rm(path, { recursive: true, force: true })
    } catch (error) {
      // Containers can nest directories deeper than PATH_MAX; `rm` descends with relative paths.
      if (!isTooLong(error)) throw error
      await run('rm', ['-rf', '--one-file-system', '--', path])
    }
  }

  async list(path: string): Promise<readonly string[]> {
    return readdir(path).catch((error: unknown) => {
      if (isMissing(error)) return []
      throw error
    })
  }

  async mountTmpfs(path: string, bytesMax: number | undefined): Promise<void> {
    if ((await this.mountsBelow(path)).includes(path)) return
    const options = bytesMax === undefined ? [] : ['-o', `size=${bytesMax}`]
    await run('mount', ['-t', 'tmpfs', ...options, 'tmpfs', path])
  }

  async mountHugetlbfs(path: string, pageBytes: number): Promise<void> {
    if ((await this.mountsBelow(path)).includes(path)) return
    await run('mount', ['-t', 'hugetlbfs', '-o', `pagesize=${pageBytes}`, 'nodev', path])
  }

  async mountNetwork(
    type: string,
    source: string,
    path: string,
    options: readonly string[],
    signal: AbortSignal,
  ): Promise<void> {
    if ((await this.mountsBelow(path)).includes(path)) return
    const helper = `mount.${type}`
    const found = await Promise.all(
      helperDirectories.map((directory) => lstat(join(directory, helper)).catch(() => undefined)),
    )
    if (found.every((status) => status === undefined)) throw new Error(`${helper} is not installed on this node`)
    const flags = options.length === 0 ? [] : ['-o', options.join(',')]
    await run('mount', ['-t', type, ...flags, '--', source, path], { signal, timeout: networkMountMsMax })
  }

  mountDevice(
    device: string,
    type: string,
    path: string,
    options: readonly string[],
    signal: AbortSignal,
  ): Promise<void> {
    return this.#devices.run(device, async () => {
      if ((await this.mountsBelow(path)).includes(path)) return
      if (!options.includes('ro')) await formatIfEmpty(device, type, signal)
      const flags = options.length === 0 ? [] : ['-o', options.join(',')]
      await run('mount', ['-t', type, ...flags, '--', device, path], { signal })
    })
  }

  growFileSystem(device: string, path: string, signal: AbortSignal): Promise<void> {
    return this.#devices.run(device, () => growFileSystem(device, path, signal))
  }

  async unmount(path: string): Promise<void> {
    if (!(await this.mountsBelow(path)).includes(path)) return
    await run('umount', [path])
  }

  async mountsBelow(path: string): Promise<readonly string[]> {
    const lines = (await readFile('/proc/self/mountinfo', 'utf8')).trim().split('\n')
    const mountPoints = lines.map((line) => unescaped(line.split(' ')[4] ?? ''))
    return mountPoints.filter((mountPoint) => mountPoint === path || mountPoint.startsWith(`${path}/`))
  }

  async usedBytes(path: string): Promise<number> {
    let bytes = 0
    const count = ({ status }: TreeEntry) => {
      bytes += status.isDirectory() ? 0 : status.blocks * blockBytes
    }
    try {
      await walkTree(path, count, unending)
      return bytes
    } catch (error) {
      if (isMissing(error)) return 0
      if (!(error instanceof TreeTooDeep)) throw error
      const { stdout } = await run('du', ['-s', '--block-size=1', '--', path])
      return Number.parseInt(stdout, 10)
    }
  }
}

const generationPrefix = '..generation-'
const asRoot = process.getuid?.() === 0

/** Permissions of a group; directories are also searchable and setgid. */
const groupBits = { reads: 0o440, writes: 0o660 } as const
const directoryBits = 0o2110

/** Changes only what differs. Changes to the tree by others cannot affect files outside of it. */
async function grantToGroup(
  path: string,
  gid: number,
  what: keyof typeof groupBits,
  signal: AbortSignal,
): Promise<void> {
  const grantEntry = async ({ status, path: entry }: TreeEntry) => {
    if (status.isSymbolicLink()) return status.gid === gid ? undefined : lchown(entry, status.uid, gid)
    const bits = groupBits[what] | (status.isDirectory() ? directoryBits : 0)
    if (status.gid === gid && (status.mode & bits) === bits) return
    await chown(entry, status.uid, gid)
    await chmod(entry, (status.mode & 0o7777) | bits)
  }
  await walkTree(path, grantEntry, signal)
}

/** The kernel escapes blanks in mountinfo as octal numbers. */
const unescaped = (path: string): string =>
  path.replaceAll(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)))
