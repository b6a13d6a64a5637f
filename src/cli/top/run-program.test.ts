import { rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { runProgram } from './run-program.ts'

const node = (script: string): Promise<void> => runProgram(process.execPath, ['--eval', script])

test('a program that ends with 0 has succeeded', () => node('process.exit(0)'))

for (const [what, run, message] of [
  ['ends with an error', () => node('process.exit(3)'), `${process.execPath} ended with 3`],
  [
    'is ended by a signal',
    () => node('process.kill(process.pid, "SIGKILL")'),
    `${process.execPath} ended with a signal`,
  ],
  ['is not installed', () => runProgram('no-such-program', []), 'no-such-program is not installed'],
] as const)
  test(`a program that ${what} has failed`, () => rejects(run(), { message }))

test('a file that cannot be run is an error', () => rejects(runProgram('/', []), { code: 'EACCES' }))
