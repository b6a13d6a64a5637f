import { equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { eventLoopTurn } from '../../base/async/event-loop-turn.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { BytePipe } from '../../wire/byte-pipe.ts'
import { containerFiles } from './container-files.ts'
import { plainContainer } from './runtime-config.ts'
import { runTerminal } from './simulated-terminal.ts'

/** Types, lets everything run, and returns what was printed since. */
function openShell(isTerminal: boolean) {
  const clock = new VirtualClock()
  const pipe = new BytePipe(65_536)
  const container = new AbortController()
  let printed = ''
  const print = (piece: Uint8Array) => Promise.resolve(void (printed += new TextDecoder().decode(piece)))
  const io = { stdin: pipe.read(), stdout: print, stderr: print, ...(isTerminal ? { isTerminal: true as const } : {}) }
  const files = containerFiles(plainContainer('c', 'i'), undefined, () => container.signal)
  const exit = runTerminal('c', { clock, environment: { GREETING: 'hello' }, files, ended: container.signal }, io)
  const taken = async (): Promise<string> => {
    for (let turn = 0; turn < 5; turn++) await eventLoopTurn()
    const text = printed
    printed = ''
    return text
  }
  return {
    clock,
    exit,
    taken,
    async type(text: string): Promise<string> {
      await pipe.write(new TextEncoder().encode(text))
      return taken()
    },
    end: () => pipe.end(),
  }
}

const typed: [what: string, keys: string, printed: string][] = [
  ['a command', 'echo $GREETING\r', 'echo $GREETING\r\nhello\r\n/ # '],
  ['a corrected character of two code units', 'echo 😀\x7f1\r', 'echo 😀\b \b1\r\n1\r\n/ # '],
  ['a corrected command', 'echx\x7fo 1\r', 'echx\b \bo 1\r\n1\r\n/ # '],
  ['nothing', '\r', '\r\n/ # '],
  ['arrows', '\x1b[A\x1b[Decho 1\r', 'echo 1\r\n1\r\n/ # '],
  ['ctrl-c before the end of a line', 'echo 1\x03', 'echo 1^C\r\n/ # '],
  ['a program', 'python\r', 'python\r\n"python" was not run: container c is simulated and has no programs\r\n/ # '],
]
for (const [what, keys, printed] of typed)
  test(`${what} in a terminal`, async () => {
    const shell = openShell(true)
    match(await shell.taken(), /^Container c is simulated\. This shell has cat, .*\bsleep, .*and exit\.\r\n\/ # $/)
    equal(await shell.type(keys), printed)
    await shell.type('exit 3\r')
    equal(await shell.exit, 3)
  })

test('ctrl-c interrupts the command that runs, and ctrl-d ends the shell with its code', async () => {
  const shell = openShell(true)
  await shell.taken()
  equal(await shell.type('sleep 1000\r'), 'sleep 1000\r\n')
  equal(await shell.type('\x03'), '^C\r\n/ # ')
  await shell.type('\x04')
  equal(await shell.exit, 130)
})

test('lines of a pipe are run without a prompt and an echo, until they end', async () => {
  const shell = openShell(false)
  equal(await shell.type('echo 1\nfalse\n'), '1\n')
  equal(await shell.type('echo 2'), '')
  shell.end()
  equal(await shell.exit, 0)
  equal(await shell.taken(), '2\n')
})
