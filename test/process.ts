// A separate coxswain process, for tests that use it like a user.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export const coxswain = fileURLToPath(new URL('../bin/coxswain', import.meta.url))

export interface RunningProcess extends AsyncDisposable {
  readonly pid: number
  /** The line that was printed when it was ready. */
  readonly readyLine: string
  /** Its output so far. */
  printed(): string
  /** Its log so far. */
  logged(): string
  /** Ends it with a signal; returns the exit code, -1 when the signal ended it. */
  end(signal?: 'SIGTERM' | 'SIGKILL'): Promise<number>
}

export interface RunningUp extends RunningProcess {
  readonly folder: string
  readonly kubeconfig: string
}

export const newFolder = (): Promise<string> => mkdtemp(join(tmpdir(), 'coxswain-up-'))

/** Starts in a new directory, which is removed with the process. */
export async function startUp(...options: string[]): Promise<RunningUp> {
  const folder = await newFolder()
  const running = await startUpIn(folder, ...options)
  return {
    ...running,
    async [Symbol.asyncDispose]() {
      await running[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Starts in a directory that is not removed. */
export async function startUpIn(folder: string, ...options: string[]): Promise<RunningUp> {
  const kubeconfig = join(folder, 'kubeconfig')
  const running = await startProcess([
    'up',
    '--port',
    '0',
    '--data-dir',
    join(folder, 'data'),
    '--kubeconfig',
    kubeconfig,
    // Real containers only where a test has created namespaces for them.
    ...(options.includes('--runtime') ? [] : ['--runtime', 'simulated']),
    // What a test starts ends with it.
    ...(options.includes('containerd') || options.includes('auto') ? ['--stop-containers'] : []),
    ...options,
  ])
  return { ...running, folder, kubeconfig }
}

export interface ProcessOptions {
  readonly program?: string
  readonly env?: NodeJS.ProcessEnv
}

/** Starts a command; resolves when it reports that it is ready. */
export async function startProcess(args: readonly string[], options: ProcessOptions = {}): Promise<RunningProcess> {
  const { ready, ...running } = spawnProcess(args, options)
  return { ...running, readyLine: await ready }
}

/** Starts a command that reports nothing when it is ready, such as a scheduler. */
export function startComponent(
  args: readonly string[],
  options: ProcessOptions = {},
): Omit<RunningProcess, 'readyLine'> {
  const { ready, ...running } = spawnProcess(args, options)
  ready.catch(() => {}) // it ends without having been ready
  return running
}

function spawnProcess(
  args: readonly string[],
  { program = coxswain, env = process.env }: ProcessOptions,
): Omit<RunningProcess, 'readyLine'> & { readonly ready: Promise<string> } {
  const child = spawn(program, args, { env })
  // Not at the event `exit`, when output may still be pending.
  const exited = once(child, 'close') as Promise<[number | null]>
  let errors = ''
  let output = ''
  child.stdout.on('data', (piece: Buffer) => (output += piece.toString()))
  child.stderr.on('data', (piece: Buffer) => (errors += piece.toString()))
  const ready = new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => line.startsWith('ready') && resolve(line))
    void exited.then(([code]) =>
      reject(new Error(`coxswain ${args[0]} ended with ${code} before it was ready: ${errors}`)),
    )
  })
  const end = async (signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM') => {
    child.kill(signal)
    const [code] = await exited
    return code ?? -1
  }
  return {
    pid: child.pid ?? 0,
    ready,
    printed: () => output,
    logged: () => errors,
    end,
    async [Symbol.asyncDispose]() {
      await end()
    },
  }
}
