// Processes: programs of the host, run to their end or kept running beside us.

export interface RunOptions {
  readonly input?: string | Uint8Array
  readonly environment?: Readonly<Record<string, string>>
  readonly workingDirectory?: string
  /** Output beyond this is an error; a program may print for ever. */
  readonly outputBytesMax?: number
}

export interface RunResult {
  /** The exit code; 128 + n when signal n ended it. */
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface RunningProcess {
  readonly pid: number
  readonly ended: Promise<number>
  kill(signal: 'SIGTERM' | 'SIGKILL' | 'SIGINT'): void
}

export interface Processes {
  /** Runs to the end; rejects only when it cannot be started, prints too much or is aborted. */
  run(command: string, args: readonly string[], options: RunOptions, signal: AbortSignal): Promise<RunResult>
  /** Starts and returns; `onLine` gets its output and its errors line by line. */
  start(command: string, args: readonly string[], options: RunOptions, onLine: (line: string) => void): RunningProcess
}
