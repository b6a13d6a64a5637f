// Tests that run containers use their own namespaces: a network with only loopback, private mounts, and processes that
// all end with the test.
import { equal } from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { relative } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { realClock } from '../../src/base/time/clock.ts'

const marker = 'COXSWAIN_IN_NAMESPACES'
/**
 * Each test has its own timeout, so that the failure shows what it waited for; the file's timeout is for a file that
 * does not end after its tests.
 */
const testMsMax = 300_000
const fileMsMax = 600_000
const setUp = 'ip link set lo up && exec "$@"'

/** Calls `define` in new namespaces: the test file runs itself again there. */
export function inNamespaces(file: string, define: () => void, msMax = testMsMax): void {
  if (process.env[marker] === '1') return define()
  const path = fileURLToPath(file)
  const endMsMax = Math.max(2 * msMax, fileMsMax)
  const name = `in namespaces of its own: ${relative(process.cwd(), path)}`
  test(name, { timeout: 2 * endMsMax }, async ({ signal }) => {
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
    const add = (text: string): void => {
      output = (output + text).slice(-20_000)
    }
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes: Buffer) => add(bytes.toString()))
    const deadline = realClock.after(endMsMax, () => {
      void running().then((processes) => {
        add(`\nThe file did not end within ${endMsMax / 1000} s. Processes:\n${processes}`)
        return child.kill('SIGKILL')
      })
    })
    const closed = once(child, 'close')
    const [code] = (await once(child, 'exit')) as [number | null]
    deadline.cancel()
    // A process that cannot be killed keeps the pipes open.
    await Promise.race([closed, realClock.sleep(5_000, signal)])
    equal(code, 0, output)
  })
}

/** All processes, what they wait for in the kernel, and their place in the tree. */
async function running(): Promise<string> {
  const columns = 'pid,ppid,stat,wchan:24,etimes,args'
  const kernel = ['--ppid', '2', '-p', '2']
  const { stdout } = await promisify(execFile)('ps', [...kernel, '--deselect', '-ww', '--forest', '-o', columns])
  return stdout.replace(/^(.{240}).*$/gmu, '$1')
}
