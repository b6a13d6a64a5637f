// Tests that run containers run in namespaces of their own: a network with nothing but loopback, mounts that nobody else
// sees, and processes that all end with the test.
import { equal } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const marker = 'COXSWAIN_IN_NAMESPACES'
const setUp = 'ip link set lo up && exec "$@"'

/** Calls `define` in new namespaces: the test file runs itself there again. */
export function inNamespaces(file: string, define: () => void, msMax = 280_000): void {
  if (process.env[marker] === '1') return define()
  test('in namespaces of its own', { timeout: msMax }, async () => {
    const path = fileURLToPath(file)
    const unshare = ['--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc']
    const inner = ['sh', '-c', setUp, 'sh', process.execPath, '--test', '--test-reporter=spec', path]
    const { NODE_TEST_CONTEXT: _, ...environment } = process.env
    const child = spawn('unshare', [...unshare, ...inner], {
      env: { ...environment, [marker]: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (bytes: Buffer) => {
        output = (output + bytes.toString()).slice(-20_000)
      })
    const [code] = (await once(child, 'exit')) as [number | null]
    equal(code, 0, output)
  })
}
