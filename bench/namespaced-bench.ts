// A benchmark that changes the network of its machine runs again in namespaces of its own.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Bench } from './bench.ts'

const marker = 'COXSWAIN_NAMESPACED_BENCH'

export const namespacedBench = (name: string, measure: () => AsyncIterable<string>): Bench => ({
  name,
  async *run() {
    if (process.env[marker] === name) {
      yield* measure()
      return
    }
    const unshare = ['--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc']
    const inner = [process.execPath, '--expose-gc', fileURLToPath(new URL('run.ts', import.meta.url)), name]
    const child = spawn('unshare', [...unshare, 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh', ...inner], {
      env: { ...process.env, [marker]: name },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let out = ''
    child.stdout.on('data', (bytes: Buffer) => (out += bytes.toString()))
    const [code] = (await once(child, 'exit')) as [number | null]
    if (code !== 0) throw new Error(`the bench ended with ${code}`)
    yield* out
      .split('\n')
      .filter((line) => line.startsWith('  '))
      .map((line) => line.trim())
  },
})
