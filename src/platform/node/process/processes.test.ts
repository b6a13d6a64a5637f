import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { nodeProcesses } from './processes.ts'

test('a process of others is signalled by its id; a missing one is not an error', async () => {
  const other = nodeProcesses.start('sleep', ['60'], {}, () => {})
  nodeProcesses.signal(other.pid, 'SIGTERM')
  equal(await other.ended, 128 + 15)
  nodeProcesses.signal(other.pid, 'SIGTERM')
})

test('an interactive program reads what is written and reports its lines', async () => {
  const { promise: line, resolve } = Promise.withResolvers<string>()
  const program = nodeProcesses.startInteractive('cat', [], {}, resolve)
  program.write('there and back\n')
  equal(await line, 'there and back')
  program.kill('SIGTERM')
  equal(await program.ended, 128 + 15)
  program.write('after its end\n')
})
