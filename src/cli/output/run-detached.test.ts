import { deepEqual, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { parseCommand } from '../command/command.ts'
import { up } from '../commands/up.ts'
import { runDetached, undetachedArguments } from './run-detached.ts'

const rows: [typed: string[], passed: string[]][] = [
  [['--detach'], []],
  [
    ['-dv', '--port', '0'],
    ['--verbose', '--port=0'],
  ],
  [['-d', '--wait', '--wait-timeout=1m', '--nodes', '3'], ['--nodes=3']],
  [['--detach', '--tls-san', 'a', '--tls-san', 'b'], ['--tls-san=a,b']],
]
for (const [typed, passed] of rows)
  test(`up ${typed.join(' ')} runs up ${passed.join(' ')} in the background`, () => {
    const { options } = parseCommand(up, typed)
    deepEqual(undetachedArguments(options), passed)
    deepEqual(parseCommand(up, passed).options['detach'], undefined)
  })

test('a timeout that is no duration is a mistake of usage, and nothing is started', () =>
  rejects(runDetached({ wait: true, 'wait-timeout': 'soon' }, { dataDirectory: '/none', nodes: 1 }, {} as never), {
    name: 'UsageError',
    message: 'duration "soon" is not like 90s or 1h30m',
  }))
