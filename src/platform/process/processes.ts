// Processes: runs programs of the host, to completion or in the background.

export interface RunOptions {
  readonly input?: string | Uint8Array
  readonly environment?: Readonly<Record<string, string>>
  readonly workingDirectory?: string
  /** More output is an error, because a program may print without end. */
  readonly outputBytesMax?: number
}

export interface RunResult {
  /** The exit code; 128 + n when signal n terminated it. */
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface RunningProcess {
  readonly pid: number
  readonly ended: Promise<number>
  kill(signal: 'SIGTERM' | 'SIGKILL' | 'SIGINT'): void
}

/** A program that reads its input while it runs. */
export interface InteractiveProcess extends RunningProcess {
  write(text: string): void
}

export interface Processes {
  /** Runs to completion. Rejects only if the program cannot be started, prints too much or is aborted. */
  run(command: string, args: readonly string[], options: RunOptions, signal: AbortSignal): Promise<RunResult>
  /** Starts a program in the background; `onLine` is called with each line of its stdout and stderr. */
  start(command: string, args: readonly string[], options: RunOptions, onLine: (line: string) => void): RunningProcess
}

/** Signals to processes that this process has not started. */
export interface ProcessSignals {
  /** Does nothing if there is no such process. */
  signal(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void
}

/** Programs that are sent commands while they run. */
export interface InteractivePrograms {
  /** As `start`, with an input that stays open. The program ends with this process if it ends with its input. */
  startInteractive(
    command: string,
    args: readonly string[],
    options: Omit<RunOptions, 'input'>,
    onLine: (line: string) => void,
  ): InteractiveProcess
}
