// Disk: the folders, files and mounts that a kubelet prepares for its pods. Drivers: the host's own, and a simulated one
// in memory. Every driver passes contract.suite.ts.

export interface DiskFile {
  readonly content: Uint8Array
  readonly mode: number
}

export interface Owner {
  readonly uid?: number
  readonly gid?: number
}

export interface Disk {
  /** Makes the folder and those above it; an existing one gets the mode. */
  makeFolder(path: string, mode: number): Promise<void>
  /** Writes one file, whole or not at all. */
  write(path: string, file: DiskFile): Promise<void>
  /** The last bytes of a file; undefined when there is none. A path that leads elsewhere by a link is not followed. */
  readEnd(path: string, bytesMax: number): Promise<Uint8Array | undefined>
  /**
   * Makes the folder hold exactly these files, by paths below it, all at once: a reader sees the old or the new ones,
   * never a mixture. Nothing is written when nothing differs.
   */
  project(folder: string, files: ReadonlyMap<string, DiskFile>): Promise<void>
  /** Gives everything below a path to an owner; with `groupWrites` the group may write and new files stay the group's. */
  give(path: string, owner: Owner, groupWrites: boolean): Promise<void>
  /** What a path is; undefined when nothing is there. */
  kindOf(path: string): Promise<DiskKind | undefined>
  /** Resolves `subPath` inside a folder without ever leaving it by a link; makes what is missing. Throws PathEscapes. */
  inside(folder: string, subPath: string): Promise<string>
  /** Removes a file or a folder with its content, never across a mount; fine when nothing is there. */
  remove(path: string): Promise<void>
  /** Names in a folder; empty when there is none. */
  list(path: string): Promise<readonly string[]>
  /** Mounts memory as a file system; fine when it is mounted already. */
  mountMemory(path: string, bytesMax: number | undefined): Promise<void>
  /** Mounts one path at another. */
  mountBind(from: string, to: string): Promise<void>
  /** Fine when nothing is mounted there. */
  unmount(path: string): Promise<void>
  /** Where something is mounted, at or below a path. */
  mountsBelow(path: string): Promise<readonly string[]>
  /** Bytes that the files below a path take. */
  usedBytes(path: string): Promise<number>
}

export type DiskKind = 'file' | 'folder' | 'socket' | 'character-device' | 'block-device' | 'other'

export class PathEscapes extends Error {
  override name = 'PathEscapes'
}
