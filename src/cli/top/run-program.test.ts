import { rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { runProgram } from './run-program.ts'

const { signal } = new AbortController()
const node = (script: string): Promise<void> => runProgram(process.execPath, ['--eval', script], signal)

test('a program that ends with 0 has succeeded', () => node('process.exit(0)'))

for (const [what, run, message] of [
  ['ends with an error', () => node('process.exit(3)'), `${process.execPath} ended with 3`],
  [
    'prints errors',
    () => node('console.error("first"); console.error("was not run: it is simulated"); process.exitCode = 126'),
    `${process.execPath} ended with 126: was not run: it is simulated`,
  ],
  [
    'is ended by a signal',
    () => node('process.kill(process.pid, "SIGKILL")'),
    `${process.execPath} ended with a signal`,
  ],
  ['is not installed', () => runProgram('no-such-program', [], signal), 'no-such-program is not installed'],
] as const)
  test(`a program that ${what} has failed`, () => rejects(run(), { message }))

test('a program has ended although another one that it started holds its errors open', async () => {
  const script = `
    const { spawn } = require('node:child_process')
    const editor = spawn('sleep', ['1000'], { stdio: ['ignore', 'ignore', 'inherit'], detached: true })
    console.error(String(editor.pid))
    process.exit(1)`
  const failure = await node(script).then(
    () => undefined,
    (error: Error) => error.message,
  )
  const [, pid = ''] = /ended with 1: (\d+)$/.exec(failure ?? '') ?? []
  // Fails unless it still runs.
  process.kill(Number(pid), 'SIGKILL')
})

test('a file that cannot be run is an error', () => rejects(runProgram('/', [], signal), { code: 'EACCES' }))

test('a program is ended when the signal is aborted', async () => {
  const stop = new AbortController()
  const ended = runProgram(process.execPath, ['--eval', 'setInterval(() => {}, 1_000)'], stop.signal)
  stop.abort()
  await rejects(ended, { name: 'AbortError' })
})
