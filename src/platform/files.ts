// Files: the file operations that components need. Writes are atomic: a reader never sees a partial file.

export interface Files {
  /** The content, or undefined when the file does not exist. */
  read(path: string): Promise<Uint8Array | undefined>
  /** Replaces the file atomically and durably. By default only its owner may read it. */
  write(path: string, content: Uint8Array | string, mode?: number): Promise<void>
  /** Names in a folder, sorted; empty when there is no such folder. */
  list(path: string): Promise<string[]>
  /** Makes the folder and those above it, accessible to its owner only. */
  makeDirectory(path: string): Promise<void>
  /** Opens a file for appending. When it does not exist it is created, readable by its owner only. */
  openAppend(path: string): Promise<AppendFile>
  rename(from: string, to: string): Promise<void>
  /** The path without symbolic links, or undefined when nothing is there. */
  realPath(path: string): Promise<string | undefined>
  /** Removes a file or a folder with its content; fine when nothing is there. */
  remove(path: string): Promise<void>
}

export interface AppendFile {
  /** The size of the file. */
  readonly bytes: number
  append(content: Uint8Array): Promise<void>
  close(): Promise<void>
}
