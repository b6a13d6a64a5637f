// A cluster in an engine that does not generate code from strings, as under a content security policy without unsafe-eval.
import { equal, match } from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../', import.meta.url))
const flag = '--disallow-code-generation-from-strings'

/** Without the variable that makes a child of the test runner report to it. */
const { NODE_TEST_CONTEXT: _, ...env } = process.env

const runWithout = async (...args: string[]): Promise<string> =>
  (await run(process.execPath, [flag, ...args], { cwd: root, env })).stdout

test('functions of messages are closures, and a Deployment is created, scaled, updated and deleted', async () => {
  const mode = `import { engineMode } from './src/schema/descriptor/message-function.ts'; console.log(engineMode)`
  equal((await runWithout('--input-type=module', '--eval', mode)).trim(), 'closures')
  match(await runWithout('--test-reporter=tap', 'test/end-to-end/virtual-clock.test.ts'), /^# pass 1$/m)
})
