// Files: the few file operations that components need. A write is whole or not there: nobody ever reads half a file.

export interface Files {
  /** The content, or undefined when there is no such file. */
  read(path: string): Promise<Uint8Array | undefined>
  /** Replaces the file atomically and durably; readable by its owner only, unless `mode` says otherwise. */
  write(path: string, content: Uint8Array | string, mode?: number): Promise<void>
  /** Names in a folder, sorted; empty when there is no such folder. */
  list(path: string): Promise<string[]>
  /** Makes the folder and those above it, accessible to its owner only. */
  makeDirectory(path: string): Promise<void>
  /** Opens a file to add to, made readable by its owner only when it is not there. */
  openAppend(path: string): Promise<AppendFile>
  rename(from: string, to: string): Promise<void>
  /** Removes a file or a folder with its content; fine when nothing is there. */
  remove(path: string): Promise<void>
}

export interface AppendFile {
  /** How many it holds. */
  readonly bytes: number
  append(content: Uint8Array): Promise<void>
  close(): Promise<void>
}
