// Disk: the folders, files and mounts that a kubelet prepares for its pods. Drivers: the host's own, and a simulated one
// in memory. Every driver passes contract.suite.ts.

export interface DiskFile {
  readonly content: Uint8Array
  readonly mode: number
  /** Whose it is; root's when left out. Only projected files have owners. */
  readonly uid?: number
}

export interface Disk {
  /** Makes the folder and those above it; an existing one gets the mode. */
  makeDirectory(path: string, mode: number): Promise<void>
  /** Writes one file, whole or not at all. */
  write(path: string, file: DiskFile): Promise<void>
  /** The last bytes of a file; undefined when there is none. A path that leads elsewhere by a link is not followed. */
  readTail(path: string, bytesMax: number): Promise<Uint8Array | undefined>
  /**
   * Makes the folder hold exactly these files, by paths below it, all at once: a reader sees the old or the new ones,
   * never a mixture. Nothing is written when nothing differs. With a group, the group may read everything.
   */
  project(folder: string, files: ReadonlyMap<string, DiskFile>, gid?: number): Promise<void>
  /**
   * Gives everything at and below a path to a group, which may write it; new files stay the group's. No link below the path
   * is followed, whoever moves things meanwhile. Throws TreeTooDeep.
   */
  changeGroup(path: string, gid: number, signal: AbortSignal): Promise<void>
  /** Whether the path itself belongs to the group as `giveToGroup` leaves it; what is below is not looked at. */
  hasGroup(path: string, gid: number): Promise<boolean>
  /** What a path is; undefined when nothing is there. */
  kindOf(path: string): Promise<DiskKind | undefined>
  /**
   * Mounts what lies at `subPath` inside a folder at another place, and makes a folder where nothing is. It never leaves
   * the folder by a link, whoever moves things meanwhile. Fine when the same is mounted there already. Throws PathEscapes.
   */
  mountSubPath(folder: string, subPath: string, to: string): Promise<void>
  /** Removes a file or a folder with its content, never across a mount; fine when nothing is there. */
  remove(path: string): Promise<void>
  /** Names in a folder; empty when there is none. */
  list(path: string): Promise<readonly string[]>
  /** Mounts memory as a file system; fine when it is mounted already. */
  mountTmpfs(path: string, bytesMax: number | undefined): Promise<void>
  /** Mounts memory in pages of this size as a file system; fine when it is mounted already. */
  mountHugetlbfs(path: string, pageBytes: number): Promise<void>
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

/** Folders are nested deeper than they are walked. */
export class TreeTooDeep extends Error {
  override name = 'TreeTooDeep'
}
