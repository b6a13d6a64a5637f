// Tests that run containers use their own namespaces: a network with only loopback, private mounts, and processes that
// all end with the test.
import { equal } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const marker = 'COXSWAIN_IN_NAMESPACES'
/**
 * Each test has its own timeout, so that the failure shows what it waited for; the file's timeout is only a fallback.
 */
const testMsMax = 300_000
const fileMsMax = 1_800_000
const setUp = 'ip link set lo up && exec "$@"'

/** Calls `define` in new namespaces: the test file runs itself again there. */
export function inNamespaces(file: string, define: () => void, msMax = testMsMax): void {
  if (process.env[marker] === '1') return define()
  test('in namespaces of its own', { timeout: Math.max(msMax, fileMsMax) }, async ({ signal }) => {
    const path = fileURLToPath(file)
    const unshare = ['--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc']
    const options = ['--test', `--test-timeout=${msMax}`, '--test-reporter=spec']
    const inner = ['sh', '-c', setUp, 'sh', process.execPath, ...options, path]
    const { NODE_TEST_CONTEXT: _, ...environment } = process.env
    const child = spawn('unshare', [...unshare, ...inner], {
      env: { ...environment, [marker]: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
      // All processes in the namespaces end with the first one.
      signal,
      killSignal: 'SIGKILL',
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (bytes: Buffer) => {
        output = (output + bytes.toString()).slice(-20_000)
      })
    const [code] = (await once(child, 'close')) as [number | null]
    equal(code, 0, output)
  })
}
