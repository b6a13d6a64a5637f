// Tests that run containers use their own namespaces: a network with only loopback, private mounts, and processes that
// all end with the test. `npm run test:integration` starts such a file in them, so that it is loaded once.
import { equal } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { relative } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { inNamespacesCommand, namespacesMarker, processTree } from '../../scripts/namespaces.mjs'
import { realClock } from '../../src/base/time/clock.ts'

/**
 * Each test has its own timeout, so that the failure shows what it waited for; the file's timeout is for a file that
 * does not end after its tests.
 */
const testMsMax = 300_000
const fileMsMax = 600_000

/** Calls `define` in new namespaces: the test file runs itself again there. */
export function inNamespaces(file: string, define: () => void, msMax = testMsMax): void {
  if (process.env[namespacesMarker] === '1') return define()
  const path = fileURLToPath(file)
  const endMsMax = Math.max(2 * msMax, fileMsMax)
  const name = `in namespaces of its own: ${relative(process.cwd(), path)}`
  test(name, { timeout: 2 * endMsMax }, async ({ signal }) => {
    const options = ['--test', `--test-timeout=${msMax}`, '--test-reporter=spec']
    const { program, args } = inNamespacesCommand(process.execPath, ...options, path)
    const { NODE_TEST_CONTEXT: _, ...environment } = process.env
    const child = spawn(program, args, {
      env: { ...environment, [namespacesMarker]: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
      // All processes in the namespaces end with the first one.
      signal,
      killSignal: 'SIGKILL',
    })
    let output = ''
    const add = (text: string): void => {
      output = (output + text).slice(-20_000)
    }
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes: Buffer) => add(bytes.toString()))
    const deadline = realClock.after(endMsMax, () => {
      add(`\nThe file did not end within ${endMsMax / 1000} s. Processes:\n${processTree(child.pid).text}`)
      child.kill('SIGKILL')
    })
    const closed = once(child, 'close')
    const [code] = (await once(child, 'exit')) as [number | null]
    deadline.cancel()
    // A process that cannot be killed keeps the pipes open.
    await Promise.race([closed, realClock.sleep(5_000, signal)])
    equal(code, 0, output)
  })
}
