// ContainerFiles: the files that a simulated container sees. Volumes are mounted in a file system of its own, which is
// empty except for /tmp and its working directory.
import { concatBytes } from '../../base/collections/concat-bytes.ts'
import { FileError } from '../disk/file-error.ts'
import { FileTree, type TreeFile } from '../disk/file-tree.ts'
import type { SimulatedDisk } from '../disk/simulated-disk.ts'
import type { ContainerConfig } from './runtime-config.ts'

/** Relative paths begin at the working directory. Failures are FileErrors with the code of the system call. */
export interface ContainerFiles {
  /** The text of a file. */
  readonly read: (path: string) => Promise<string>
  readonly readBytes: (path: string) => Promise<Uint8Array>
  /** Replaces the content of a file; a missing file is created in its existing directory. */
  readonly write: (path: string, content: string | Uint8Array) => Promise<void>
  readonly append: (path: string, content: string | Uint8Array) => Promise<void>
  /** The names in a directory, sorted. */
  readonly list: (path: string) => Promise<readonly string[]>
  readonly kindOf: (path: string) => Promise<'file' | 'directory' | undefined>
  /** Creates a directory and its parents. */
  readonly makeDirectory: (path: string) => Promise<void>
  /** Removes a file, or a directory with its content; does nothing when the path does not exist. */
  readonly remove: (path: string) => Promise<void>
}

const fileMode = 0o644
const directoryMode = 0o755

/** As real runtimes do, a missing path of the node becomes a directory. */
export async function makeMountSources({ mounts }: ContainerConfig, disk: SimulatedDisk): Promise<void> {
  for (const { hostPath } of mounts)
    if (disk.nodeAt(hostPath) === undefined) await disk.makeDirectory(hostPath, directoryMode)
}

/** The tree is created on first use, because most containers of a large simulation do not use files. */
export function containerFiles(
  config: ContainerConfig,
  disk: SimulatedDisk | undefined,
  ended: () => AbortSignal,
): ContainerFiles {
  let made: FileTree | undefined
  const tree = () => (made ??= mountedTree(config, disk))
  const at = (path: string) => resolvePath(config.workingDirectory, path)
  const load = ({ content }: TreeFile) =>
    typeof content === 'function' ? content(ended()) : Promise.resolve(content.slice())
  const readBytes = async (path: string) => load(tree().file(at(path), 'open'))
  const write = async (path: string, content: string | Uint8Array) => {
    const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content.slice()
    tree().write(at(path), bytes, fileMode)
  }
  return {
    read: async (path) => new TextDecoder().decode(await readBytes(path)),
    readBytes,
    write,
    async append(path, content) {
      const isNew = tree().find(at(path)) === undefined
      const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content
      await write(path, isNew ? bytes : concatBytes([await readBytes(path), bytes]))
    },
    list: async (path) => [...tree().directory(at(path), 'scandir').entries.keys()].toSorted(),
    kindOf: async (path) => tree().find(at(path))?.kind,
    async makeDirectory(path) {
      const absolute = at(path)
      if (tree().find(absolute)?.kind === 'directory') return
      tree().makeDirectory(absolute, directoryMode)
    },
    remove: async (path) => tree().remove(at(path)),
  }
}

/** Outer mounts come first, so that one may be inside of another. A device is a file with the content of its volume. */
function mountedTree(
  { mounts, devices, workingDirectory, security }: ContainerConfig,
  disk: SimulatedDisk | undefined,
): FileTree {
  const tree = new FileTree(security.readOnlyRoot)
  tree.provide('/tmp', 'directory')
  if (workingDirectory !== '') tree.provide(resolvePath('', workingDirectory), 'directory')
  for (const { hostPath, containerPath, readOnly } of [...mounts, ...devices].toSorted(
    (a, b) => depthOf(a.containerPath) - depthOf(b.containerPath),
  )) {
    const source = disk?.nodeAt(hostPath)
    if (source === undefined) throw new FileError('ENOENT', 'mount', hostPath)
    const path = resolvePath('', containerPath)
    tree.provide(path, source.kind)
    tree.mount(path, source, readOnly)
  }
  return tree
}

const depthOf = (path: string): number => path.split('/').length

/** An absolute path without `.` and `..`. */
export function resolvePath(directory: string, path: string): string {
  const names: string[] = []
  for (const name of (path.startsWith('/') ? path : `${directory}/${path}`).split('/')) {
    if (name === '..') names.pop()
    else if (name !== '' && name !== '.') names.push(name)
  }
  return `/${names.join('/')}`
}
