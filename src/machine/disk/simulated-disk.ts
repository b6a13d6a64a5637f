// SimulatedDisk: files and mounts in memory for simulated nodes. There are no symbolic links.
import { PathEscapes, type Disk, type DiskFile, type DiskKind, type ProjectedFile } from './disk.ts'
import { FileTree, newDirectory, usedBytes, type TreeDirectory, type TreeNode } from './file-tree.ts'

const { signal: unending } = new AbortController()

export class SimulatedDisk implements Disk {
  readonly #tree = new FileTree()
  /** Mount points whose content is in memory. */
  readonly #tmpfs = new Set<string>()
  /** The file system of each device that was mounted. */
  readonly #devices = new Map<string, TreeDirectory>()
  readonly #networkTypes: ReadonlySet<string>

  /** `networkTypes`: the types of network file systems that can be mounted. */
  constructor(networkTypes: readonly string[] = []) {
    this.#networkTypes = new Set(networkTypes)
  }

  /** The file or directory at a path, for mounts into simulated containers. */
  nodeAt(path: string): TreeNode | undefined {
    return this.#tree.find(path)
  }

  /** Mounts a file or directory that several disks may share; the mount point is created. */
  mountNode(path: string, node: TreeNode, isReadOnly: boolean): void {
    this.#tree.provide(path, node.kind)
    this.#tree.mount(path, node, isReadOnly)
  }

  /** Also removes the mount point. */
  unmountNode(path: string): void {
    this.#tree.unmount(path)
    this.#tree.remove(path)
  }

  /** Limits the bytes of all files below a directory; undefined removes the limit. */
  limitBytes(path: string, bytesMax: number | undefined): void {
    const directory = this.#tree.directory(path, 'quotactl')
    if (bytesMax === undefined) delete directory.bytesMax
    else directory.bytesMax = bytesMax
  }

  /** The machine has lost power: mounts and everything in memory are gone. */
  losePower(): void {
    for (const path of this.#tree.mountsBelow('/').toReversed()) this.#tree.unmount(path)
    this.#tmpfs.clear()
  }

  makeDirectory(path: string, mode: number): Promise<void> {
    this.#tree.makeDirectory(path, mode)
    return Promise.resolve()
  }

  async write(path: string, { content, mode }: DiskFile): Promise<void> {
    this.#tree.replace(path, content, mode)
  }

  async readTail(path: string, bytesMax: number): Promise<Uint8Array | undefined> {
    const node = this.#tree.find(path)
    if (node?.kind !== 'file') return undefined
    const content = typeof node.content === 'function' ? await node.content(unending) : node.content
    return content.slice(-bytesMax)
  }

  async project(
    directory: string,
    files: ReadonlyMap<string, ProjectedFile>,
    _gid: number | undefined,
    _signal: AbortSignal,
  ): Promise<void> {
    const present = this.#tree.directory(directory, 'open')
    if (holds(present, files)) return
    const generation = newDirectory(0o755)
    for (const [path, { content, mode }] of files) {
      const names = path.split('/')
      const name = names.pop() ?? ''
      let at = generation
      for (const parent of names) at = subdirectory(at, parent)
      at.entries.set(name, { kind: 'file', mode, content })
    }
    present.entries.clear()
    for (const [name, node] of generation.entries) present.entries.set(name, node)
  }

  async changeGroup(path: string, gid: number, _signal: AbortSignal): Promise<void> {
    const node = this.#tree.find(path)
    if (node?.kind === 'directory') node.gid = gid
  }

  hasGroup(path: string, gid: number): Promise<boolean> {
    const node = this.#tree.find(path)
    return Promise.resolve(node?.kind === 'directory' && node.gid === gid)
  }

  kindOf(path: string): Promise<DiskKind | undefined> {
    return Promise.resolve(this.#tree.find(path)?.kind)
  }

  async mountSubPath(directory: string, subPath: string, to: string): Promise<void> {
    const names = subPath.split('/').filter((name) => name !== '' && name !== '.')
    if (names.includes('..')) throw new PathEscapes(`the path ${JSON.stringify(subPath)} leads out of its volume`)
    const path = [directory, ...names].join('/')
    const source = this.#tree.find(path) ?? this.#tree.makeDirectory(path, 0o750)
    if (this.#tree.isMountPoint(to)) {
      if (this.#tree.find(to) === source) return
      this.#tree.unmount(to)
    }
    this.#tree.makeDirectory(to, 0o750)
    this.#tree.mount(to, source)
  }

  remove(path: string): Promise<void> {
    const mounts = this.#tree.mountsBelow(path)
    if (mounts.length > 0)
      return Promise.reject(new Error(`${path} is not removed: something is mounted at ${mounts.join(', ')}`))
    this.#tree.remove(path)
    return Promise.resolve()
  }

  list(path: string): Promise<readonly string[]> {
    const node = this.#tree.find(path)
    return Promise.resolve(node?.kind === 'directory' ? [...node.entries.keys()] : [])
  }

  async mountTmpfs(path: string, bytesMax: number | undefined): Promise<void> {
    if (this.#tmpfs.has(path)) return
    this.#tmpfs.add(path)
    this.#tree.mount(path, { ...newDirectory(0o777), ...(bytesMax === undefined ? {} : { bytesMax }) })
  }

  mountHugetlbfs(path: string, _pageBytes: number): Promise<void> {
    return this.mountTmpfs(path, undefined)
  }

  mountNetwork(type: string, _source: string, path: string, _options: readonly string[]): Promise<void> {
    return this.#networkTypes.has(type)
      ? this.mountTmpfs(path, undefined)
      : Promise.reject(new Error(`mount.${type} is not installed on this node`))
  }

  async mountDevice(device: string, _type: string, path: string): Promise<void> {
    if (this.#tree.isMountPoint(path)) return
    const content = this.#devices.get(device) ?? newDirectory(0o755)
    this.#devices.set(device, content)
    this.#tree.makeDirectory(path, 0o750)
    this.#tree.mount(path, content)
  }

  /** Files in memory have no size that they have to fit in. */
  growFileSystem(device: string, path: string): Promise<void> {
    return this.#tree.isMountPoint(path)
      ? Promise.resolve()
      : Promise.reject(new Error(`${device} is not mounted at ${path}`))
  }

  unmount(path: string): Promise<void> {
    this.#tmpfs.delete(path)
    this.#tree.unmount(path)
    return Promise.resolve()
  }

  mountsBelow(path: string): Promise<readonly string[]> {
    return Promise.resolve(this.#tree.mountsBelow(path))
  }

  usedBytes(path: string): Promise<number> {
    const node = this.#tree.find(path)
    return Promise.resolve(node === undefined ? 0 : usedBytes(node))
  }
}

function subdirectory({ entries }: TreeDirectory, name: string): TreeDirectory {
  const known = entries.get(name)
  if (known?.kind === 'directory') return known
  const made = newDirectory(0o755)
  entries.set(name, made)
  return made
}

/** Whether the directory contains exactly these files. */
function holds(directory: TreeDirectory, files: ReadonlyMap<string, ProjectedFile>): boolean {
  if (directory.entries.size !== files.size) return false
  for (const [path, { content, mode }] of files) {
    // Files in subdirectories are not compared; they are replaced.
    const node = directory.entries.get(path)
    if (node?.kind !== 'file' || node.mode !== mode) return false
    if (node.content === content) continue
    if (typeof node.content === 'function' || typeof content === 'function') return false
    if (!areEqual(node.content, content)) return false
  }
  return true
}

const areEqual = (one: Uint8Array, other: Uint8Array): boolean =>
  one.length === other.length && one.every((byte, index) => byte === other[index])
