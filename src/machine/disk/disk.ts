// Disk: directories, files and mounts that the kubelet prepares for its pods. Drivers: the host's disk and a simulated
// one in memory. Every driver passes disk-contract.suite.ts.

export interface DiskFile {
  readonly content: Uint8Array
  readonly mode: number
  /** The owner; root when left out. Only used for projected files. */
  readonly uid?: number
}

/** The content of a file, or a function that loads it. */
export type FileContent = Uint8Array | ((signal: AbortSignal) => Promise<Uint8Array>)

export interface ProjectedFile extends Omit<DiskFile, 'content'> {
  readonly content: FileContent
}

export interface Disk {
  /** Creates the directory and its parents; sets the mode of an existing one. */
  makeDirectory(path: string, mode: number): Promise<void>
  /** Writes a file atomically. */
  write(path: string, file: DiskFile): Promise<void>
  /** The last bytes of a file; undefined when it does not exist. Symbolic links are not followed. */
  readTail(path: string, bytesMax: number): Promise<Uint8Array | undefined>
  /**
   * Replaces the content of the directory with these files (paths are relative to it) atomically: a reader sees either
   * the old or the new files. Nothing is written when nothing has changed. With a gid, the group can read all files.
   * Content that a function loads is loaded now, or whenever it is read if the files are simulated.
   */
  project(
    directory: string,
    files: ReadonlyMap<string, ProjectedFile>,
    gid: number | undefined,
    signal: AbortSignal,
  ): Promise<void>
  /**
   * Makes a group the owner of everything at and below a path, with write permission and setgid directories. Symbolic
   * links below the path are not followed, even when the tree changes meanwhile. Throws TreeTooDeep.
   */
  changeGroup(path: string, gid: number, signal: AbortSignal): Promise<void>
  /** Whether the path itself has the group and mode that `changeGroup` sets; its content is not checked. */
  hasGroup(path: string, gid: number): Promise<boolean>
  /** The type of a path; undefined when it does not exist. */
  kindOf(path: string): Promise<DiskKind | undefined>
  /**
   * Bind mounts `subPath` of a directory at `to`; missing directories are created. Symbolic links cannot lead out of
   * the directory, even when it changes meanwhile. Does nothing when it is already mounted. Throws PathEscapes.
   */
  mountSubPath(directory: string, subPath: string, to: string): Promise<void>
  /** Removes a file or directory, never across a mount; does nothing when the path does not exist. */
  remove(path: string): Promise<void>
  /** Names in a directory; empty when it does not exist. */
  list(path: string): Promise<readonly string[]>
  /** Mounts a tmpfs; does nothing when it is already mounted. */
  mountTmpfs(path: string, bytesMax: number | undefined): Promise<void>
  /** Mounts a hugetlbfs with this page size; does nothing when it is already mounted. */
  mountHugetlbfs(path: string, pageBytes: number): Promise<void>
  /**
   * Mounts a file system of a server, such as `host:/path` of type nfs; does nothing when something is mounted there.
   * Rejects when the host has no program that mounts this type.
   */
  mountNetwork(
    type: string,
    source: string,
    path: string,
    options: readonly string[],
    signal: AbortSignal,
  ): Promise<void>
  /**
   * Mounts a block device, which gets a file system of this type if it has none and is not mounted read-only; does
   * nothing when something is mounted there.
   */
  mountDevice(
    device: string,
    type: string,
    path: string,
    options: readonly string[],
    signal: AbortSignal,
  ): Promise<void>
  /** Grows the file system of a block device, which is mounted at the path, to the size of the device. */
  growFileSystem(device: string, path: string, signal: AbortSignal): Promise<void>
  /** Does nothing when nothing is mounted there. */
  unmount(path: string): Promise<void>
  /** Mount points at or below a path. */
  mountsBelow(path: string): Promise<readonly string[]>
  /** Disk usage of the files below a path. */
  usedBytes(path: string): Promise<number>
}

export type DiskKind = 'file' | 'directory' | 'socket' | 'character-device' | 'block-device' | 'other'

export class PathEscapes extends Error {
  override name = 'PathEscapes'
}

/** The directories are nested too deeply. */
export class TreeTooDeep extends Error {
  override name = 'TreeTooDeep'
}
