// A coxswain process of its own, for tests that use it as a person would.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export const coxswain = fileURLToPath(new URL('../bin/coxswain', import.meta.url))

export interface RunningUp extends AsyncDisposable {
  readonly folder: string
  readonly kubeconfig: string
  /** What was printed when it was ready. */
  readonly readyLine: string
  /** Ends it with SIGTERM; returns the exit code. */
  end(): Promise<number>
}

export async function startUp(...options: string[]): Promise<RunningUp> {
  const folder = await mkdtemp(join(tmpdir(), 'coxswain-up-'))
  const kubeconfig = join(folder, 'kubeconfig')
  const child = spawn(coxswain, [
    'up',
    '--port',
    '0',
    '--data-dir',
    join(folder, 'data'),
    '--kubeconfig',
    kubeconfig,
    ...options,
  ])
  const exited = once(child, 'exit') as Promise<[number | null]>
  let errors = ''
  child.stderr.on('data', (piece: Buffer) => (errors += piece.toString()))
  const ready = new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => line.startsWith('ready') && resolve(line))
    void exited.then(([code]) => reject(new Error(`coxswain up ended with ${code} before it was ready: ${errors}`)))
  })
  const readyLine = await ready
  const end = async () => {
    child.kill('SIGTERM')
    const [code] = await exited
    return code ?? -1
  }
  return {
    folder,
    kubeconfig,
    readyLine,
    end,
    async [Symbol.asyncDispose]() {
      await end()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
