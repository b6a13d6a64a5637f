// MemoryContents: volumes and snapshots in memory. A volume is a directory, or a file if it is a block volume.
import { newDirectory, type TreeNode } from '../../disk/file-tree.ts'
import type { SnapshotRecord, VolumeContents, VolumeRecord } from './storage-system.ts'

export class MemoryContents implements VolumeContents {
  readonly #volumes = new Map<string, TreeNode>()
  readonly #snapshots = new Map<string, TreeNode>()

  rootOf(volumeId: string): TreeNode {
    const root = this.#volumes.get(volumeId)
    if (root === undefined) throw new Error(`volume ${volumeId} has no content`)
    return root
  }

  create({ id, source, isBlock }: VolumeRecord): Promise<void> {
    const from = source?.kind === 'snapshot' ? this.#snapshots.get(source.id) : this.#volumes.get(source?.id ?? '')
    const empty = () => (isBlock ? newFile() : newDirectory(0o777))
    this.#volumes.set(id, from === undefined ? empty() : copyOf(from))
    return Promise.resolve()
  }

  delete({ id }: VolumeRecord): Promise<void> {
    this.#volumes.delete(id)
    return Promise.resolve()
  }

  expand(): Promise<void> {
    return Promise.resolve()
  }

  createSnapshot({ id }: SnapshotRecord, source: VolumeRecord): Promise<void> {
    this.#snapshots.set(id, copyOf(this.rootOf(source.id)))
    return Promise.resolve()
  }

  deleteSnapshot({ id }: SnapshotRecord): Promise<void> {
    this.#snapshots.delete(id)
    return Promise.resolve()
  }
}

const newFile = (): TreeNode => ({ kind: 'file', mode: 0o660, content: new Uint8Array() })

/** Without mounts. The contents of files are never changed in place, so they are shared. */
function copyOf(node: TreeNode): TreeNode {
  if (node.kind === 'file') return { kind: 'file', mode: node.mode, content: node.content }
  const entries = new Map([...node.entries].map(([name, entry]) => [name, copyOf(entry)]))
  return { kind: 'directory', mode: node.mode, entries }
}

export const fileCount = (node: TreeNode): number =>
  node.kind === 'file' ? 1 : [...node.entries.values()].reduce((sum, entry) => sum + fileCount(entry), 1)
