// FileTree: directories and files in memory, with mounts. A simulated disk is one tree; every simulated container has
// another one, in which its volumes are mounted. Mounts refer to nodes, as bind mounts refer to inodes: a file that was
// replaced after it was mounted keeps its content there. There are no symbolic links, and permissions are not enforced.
import type { FileContent } from './disk.ts'
import { FileError } from './file-error.ts'

interface Mountable {
  mode: number
  /** Set where something is mounted on top. */
  mounted?: Mount
}

interface Mount {
  readonly root: TreeNode
  readonly isReadOnly: boolean
}

export interface TreeFile extends Mountable {
  readonly kind: 'file'
  content: FileContent
}

export interface TreeDirectory extends Mountable {
  readonly kind: 'directory'
  readonly entries: Map<string, TreeNode>
  /** The group that owns everything below, if it was set. */
  gid?: number
  /** Bound of the bytes of all files below. */
  bytesMax?: number
}

export type TreeNode = TreeFile | TreeDirectory

/** Where a path leads. */
interface Place {
  /** The directories on the way, the root first. */
  readonly parents: readonly TreeDirectory[]
  /** Its name in the last of them; empty for the root. */
  readonly name: string
  readonly node: TreeNode | undefined
  readonly isReadOnly: boolean
}

export const newDirectory = (mode: number): TreeDirectory => ({ kind: 'directory', mode, entries: new Map() })

const visible = (node: TreeNode | undefined): TreeNode | undefined => {
  let top = node
  while (top?.mounted !== undefined) top = top.mounted.root
  return top
}

/** Lazily loaded files have no size until they are read. */
const bytesOf = (content: FileContent): number => (typeof content === 'function' ? 0 : content.length)

/** The bytes of all files at or below the node. */
export function usedBytes(node: TreeNode): number {
  if (node.kind === 'file') return bytesOf(node.content)
  let sum = 0
  for (const entry of node.entries.values()) sum += usedBytes(visible(entry) ?? entry)
  return sum
}

export class FileTree {
  readonly #root = newDirectory(0o755)
  readonly #isReadOnly: boolean
  /** Nodes below a mount, by path. */
  readonly #covered = new Map<string, TreeNode>()

  constructor(isReadOnly = false) {
    this.#isReadOnly = isReadOnly
  }

  /** Undefined when the path does not exist. */
  find(path: string): TreeNode | undefined {
    return this.#lookUp(path, 'stat')?.node
  }

  file(path: string, call: string): TreeFile {
    const node = this.#existing(path, call)
    if (node.kind !== 'file') throw new FileError('EISDIR', call, path)
    return node
  }

  directory(path: string, call: string): TreeDirectory {
    const node = this.#existing(path, call)
    if (node.kind !== 'directory') throw new FileError('ENOTDIR', call, path)
    return node
  }

  /** Creates the directory and its parents; sets the mode of an existing one. */
  makeDirectory(path: string, mode: number): TreeDirectory {
    let at: TreeDirectory = this.#root
    let isReadOnly = this.#isReadOnly
    for (const name of namesOf(path)) {
      const entry = at.entries.get(name)
      if (entry === undefined && isReadOnly) throw new FileError('EROFS', 'mkdir', path)
      const next = entry ?? newDirectory(0o755)
      if (entry === undefined) at.entries.set(name, next)
      isReadOnly = isReadOnlyAt(next, isReadOnly)
      const node = visible(next)
      if (node?.kind !== 'directory') throw new FileError('ENOTDIR', 'mkdir', path)
      at = node
    }
    at.mode = mode
    return at
  }

  /** Creates a mount point and its parents where they are missing, also in a read-only tree. */
  provide(path: string, kind: TreeNode['kind']): void {
    let at: TreeDirectory = this.#root
    const names = namesOf(path)
    for (const [index, name] of names.entries()) {
      const isLast = index === names.length - 1
      const next =
        visible(at.entries.get(name)) ??
        (isLast && kind === 'file' ? { kind, mode: 0o644, content: new Uint8Array() } : newDirectory(0o755))
      if (!at.entries.has(name)) at.entries.set(name, next)
      if (next.kind === 'directory') at = next
      else if (!isLast) throw new FileError('ENOTDIR', 'mkdir', path)
    }
  }

  /** Writes into an existing file, or creates it. */
  write(path: string, content: Uint8Array, mode: number): void {
    const { node, ...place } = this.#writable(path)
    if (node?.kind === 'directory') throw new FileError('EISDIR', 'open', path)
    checkSpace(place.parents, content.length - (node === undefined ? 0 : bytesOf(node.content)), path)
    if (node === undefined) place.parents.at(-1)?.entries.set(place.name, { kind: 'file', mode, content })
    else node.content = content
  }

  /** Puts a new file in the place of an existing one. */
  replace(path: string, content: Uint8Array, mode: number): void {
    const { parents, name, node } = this.#writable(path)
    if (node?.kind === 'directory') throw new FileError('EISDIR', 'rename', path)
    parents.at(-1)?.entries.set(name, { kind: 'file', mode, content })
  }

  /** Removes a file or a directory with its content, never across a mount. */
  remove(path: string): void {
    const place = this.#lookUp(path, 'unlink')
    if (place?.node === undefined) return
    if (this.mountsBelow(path).length > 0) throw new FileError('EBUSY', 'unlink', path)
    if (place.isReadOnly) throw new FileError('EROFS', 'unlink', path)
    place.parents.at(-1)?.entries.delete(place.name)
  }

  /** Mounts a node at an existing path. */
  mount(path: string, root: TreeNode, isReadOnly = false): void {
    const covered = this.#existing(path, 'mount')
    covered.mounted = { root, isReadOnly }
    this.#covered.set(path, covered)
  }

  /** Does nothing when nothing is mounted there. */
  unmount(path: string): void {
    delete this.#covered.get(path)?.mounted
    this.#covered.delete(path)
  }

  isMountPoint(path: string): boolean {
    return this.#covered.has(path)
  }

  /** Mount points at or below a path. */
  mountsBelow(path: string): readonly string[] {
    if (this.#covered.size === 0) return []
    const below = path.endsWith('/') ? path : `${path}/`
    return [...this.#covered.keys()].filter((point) => point === path || point.startsWith(below))
  }

  #existing(path: string, call: string): TreeNode {
    const node = this.#lookUp(path, call)?.node
    if (node === undefined) throw new FileError('ENOENT', call, path)
    return node
  }

  #writable(path: string): Place {
    const place = this.#lookUp(path, 'open')
    if (place === undefined) throw new FileError('ENOENT', 'open', path)
    if (place.isReadOnly) throw new FileError('EROFS', 'open', path)
    return place
  }

  /** Undefined when a directory on the way does not exist. */
  #lookUp(path: string, call: string): Place | undefined {
    const parents: TreeDirectory[] = []
    let node: TreeNode | undefined = this.#root
    let name = ''
    let isReadOnly = this.#isReadOnly
    for (name of namesOf(path)) {
      if (node === undefined) return undefined
      if (node.kind !== 'directory') throw new FileError('ENOTDIR', call, path)
      parents.push(node)
      const entry: TreeNode | undefined = node.entries.get(name)
      if (entry !== undefined) isReadOnly = isReadOnlyAt(entry, isReadOnly)
      node = visible(entry)
    }
    return { parents, name, node, isReadOnly }
  }
}

/** Whether the node is read-only, given its parent directory. */
function isReadOnlyAt(node: TreeNode, isParentReadOnly: boolean): boolean {
  let isReadOnly = isParentReadOnly
  for (let { mounted } = node; mounted !== undefined; mounted = mounted.root.mounted) ({ isReadOnly } = mounted)
  return isReadOnly
}

function checkSpace(parents: readonly TreeDirectory[], moreBytes: number, path: string): void {
  if (moreBytes <= 0) return
  for (const directory of parents)
    if (directory.bytesMax !== undefined && usedBytes(directory) + moreBytes > directory.bytesMax)
      throw new FileError('ENOSPC', 'write', path)
}

const namesOf = (path: string): string[] => path.split('/').filter((name) => name !== '' && name !== '.')
