import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process'
import { constants } from 'node:os'
import { createInterface } from 'node:readline'
import type {
  InteractivePrograms,
  Processes,
  ProcessSignals,
  RunningProcess,
  RunOptions,
} from '../../process/processes.ts'

const outputBytesMaxDefault = 16 << 20

export const nodeProcesses: Processes & InteractivePrograms & ProcessSignals = {
  run(command, args, options, signal) {
    return new Promise((resolve, reject) => {
      const child = start(command, args, options)
      const fail = (error: Error) => {
        child.kill('SIGKILL')
        reject(error)
      }
      const stop = () => fail(signal.reason as Error)
      if (signal.aborted) return stop()
      signal.addEventListener('abort', stop, { once: true })
      const output = { stdout: '', stderr: '' }
      const bytesMax = options.outputBytesMax ?? outputBytesMaxDefault
      for (const name of ['stdout', 'stderr'] as const)
        child[name]?.setEncoding('utf8').on('data', (text: string) => {
          output[name] += text
          if (output[name].length > bytesMax) fail(new Error(`${command} printed more than ${bytesMax} bytes`))
        })
      child.once('error', (error) => reject(new Error(`cannot start ${command}`, { cause: error })))
      child.once('close', (code, by) => {
        signal.removeEventListener('abort', stop)
        resolve({ code: exitCode(code, by), ...output })
      })
      child.stdin?.on('error', () => {}) // the program may exit without reading its input
      child.stdin?.end(options.input)
    })
  },
  start(command, args, options, onLine) {
    const { child, running } = startInBackground(command, args, options, onLine)
    child.stdin?.end(options.input)
    return running
  },
  startInteractive(command, args, options, onLine) {
    const { child, running } = startInBackground(command, args, options, onLine)
    child.stdin?.on('error', () => {}) // the program may end before it has read everything
    return { ...running, write: (text) => void child.stdin?.write(text) }
  },
  signal(pid, signal) {
    try {
      process.kill(pid, signal)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
  },
}

function startInBackground(
  command: string,
  args: readonly string[],
  options: RunOptions,
  onLine: (line: string) => void,
): { readonly child: ChildProcess; readonly running: RunningProcess } {
  // In its own process group, so that Ctrl-C in a terminal does not reach it; we end it during shutdown.
  const child = start(command, args, options, { detached: true })
  for (const stream of [child.stdout, child.stderr])
    if (stream !== null) createInterface({ input: stream }).on('line', onLine)
  const ended = new Promise<number>((resolve) => {
    child.once('error', (error) => {
      onLine(`cannot start ${command}: ${error.message}`)
      resolve(127)
    })
    child.once('close', (code, by) => resolve(exitCode(code, by)))
  })
  return { child, running: { pid: child.pid ?? 0, ended, kill: (signal) => void child.kill(signal) } }
}

const start = (command: string, args: readonly string[], options: RunOptions, more: SpawnOptions = {}): ChildProcess =>
  spawn(command, args, {
    ...more,
    stdio: 'pipe',
    ...(options.environment === undefined ? {} : { env: { ...process.env, ...options.environment } }),
    ...(options.workingDirectory === undefined ? {} : { cwd: options.workingDirectory }),
  })

const exitCode = (code: number | null, by: NodeJS.Signals | null): number =>
  code ?? (by === null ? 1 : 128 + constants.signals[by])
