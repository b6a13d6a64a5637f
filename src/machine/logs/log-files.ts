// LogFiles: the log files that a runtime writes. Drivers: the host's files, and the memory of the simulated runtime.
// Every driver passes log-files-contract.suite.ts.

export interface LogFiles {
  /** Undefined when the file does not exist. */
  open(path: string): Promise<LogFile | undefined>
}

export interface LogFile extends AsyncDisposable {
  /** Offsets of the first available byte and of the end. */
  range(): Promise<{ readonly start: number; readonly end: number }>
  /** Reads up to `bytesMax` bytes; empty at the end. */
  read(at: number, bytesMax: number): Promise<Uint8Array>
  /** Whether the file was replaced by another one of the same name. */
  isReplaced(): Promise<boolean>
  /**
   * Resolves when the file may have grown or been replaced since the last call, and at least once a second, because its
   * writer may have exited.
   */
  waitForChange(signal: AbortSignal): Promise<void>
}

/** The directory operations of log rotation. */
export interface LogDirectory {
  sizeOf(path: string): Promise<number>
  /** Paths with this prefix, sorted by name. */
  list(prefix: string): Promise<readonly string[]>
  move(from: string, to: string): Promise<void>
  /** Replaces a file with its gzip, named `.gz`, atomically. */
  compress(path: string): Promise<void>
  remove(path: string): Promise<void>
}
