// LogFiles: the files into which a runtime writes what containers print. Drivers: the host's own files, and the memory of
// the simulated runtime. Every driver passes contract.suite.ts.

export interface LogFiles {
  /** Undefined when there is no such file. */
  open(path: string): Promise<LogFile | undefined>
}

export interface LogFile extends AsyncDisposable {
  /** Where the first byte that is still there stands, and where the next one will. */
  range(): Promise<{ readonly start: number; readonly end: number }>
  /** At most so many bytes; none at the end. */
  read(at: number, bytesMax: number): Promise<Uint8Array>
  /** Whether another file has taken its name. */
  isReplaced(): Promise<boolean>
  /** Resolves when it may have grown or been replaced since the last call, and every second: its writer may have ended. */
  waitForChange(signal: AbortSignal): Promise<void>
}

/** The folder of log files, for whoever rotates them. */
export interface LogDirectory {
  sizeOf(path: string): Promise<number>
  /** Paths that begin with `prefix`, in the order of their names. */
  list(prefix: string): Promise<readonly string[]>
  move(from: string, to: string): Promise<void>
  /** Replaces a file by its gzip, named with `.gz`; whole or not at all. */
  compress(path: string): Promise<void>
  remove(path: string): Promise<void>
}
