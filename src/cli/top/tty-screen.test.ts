import { deepEqual, equal, rejects, throws } from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { pods } from '../../ui/terminal/state/state.harness.ts'
import { kubectlCommand } from './kubectl-command.ts'
import { TtyScreen } from './tty-screen.ts'

const enter = '<raw><reads>\x1b[?1049h\x1b[?25l'
const leave = '<cooked><paused>\x1b[0m\x1b[?25h\x1b[?1049l'
const { signal } = new AbortController()
const object = { resource: pods, namespace: 'default', name: 'web-0' }

class FakeProcess extends EventEmitter {
  readonly signals: unknown[] = []

  kill(pid: number, name?: string | number): true {
    this.signals.push([pid, name])
    this.emit('killed')
    return true
  }

  exit(code?: number | string | null): never {
    this.emit('exit', code)
    throw new Error(`exit ${code}`)
  }
}

/** A screen on a file. What happens to the terminal is in the file, in order. */
function open() {
  const directory = mkdtempSync(join(tmpdir(), 'coxswain-tty-'))
  const path = join(directory, 'screen')
  const fd = openSync(path, 'w')
  let isGone = false
  const written = (text: string): boolean => {
    if (isGone) throw new Error('EIO')
    writeSync(fd, text)
    return true
  }
  const input = {
    setRawMode: (isRaw: boolean) => (written(isRaw ? '<raw>' : '<cooked>'), input as never),
    resume: () => (written('<reads>'), input as never),
    pause: () => (isGone || written('<paused>'), input as never),
  }
  const output = { columns: 80, rows: 24, fd, write: written }
  const process = new FakeProcess()
  const runs: { readonly command: readonly string[]; readonly ended: PromiseWithResolvers<void> }[] = []
  const run = (program: string, args: readonly string[]): Promise<void> => {
    const ended = Promise.withResolvers<void>()
    runs.push({ command: [program, ...args], ended })
    return ended.promise
  }
  const screen = new TtyScreen(input, output, true, kubectlCommand('config', undefined), { process, run })
  let seen = 0
  return {
    screen,
    process,
    output,
    runs,
    /** What happened since the last call. */
    happened(): string {
      const text = readFileSync(path, 'utf8')
      const news = text.slice(seen)
      seen = text.length
      return news
    },
    hangUp: () => void (isGone = true),
    [Symbol.dispose]() {
      isGone = true
      screen[Symbol.dispose]()
      closeSync(fd)
      rmSync(directory, { recursive: true })
    },
  }
}

test('the screen is entered, written to and left once', () => {
  using tty = open()
  equal(tty.screen.hasColors, true)
  deepEqual(tty.screen.size, { width: 80, height: 24 })
  tty.output.columns = 100
  deepEqual(tty.screen.size, { width: 100, height: 24 }, 'the size is that of now')
  equal(tty.screen.write('text'), true)
  equal(tty.happened(), `${enter}text`)
  tty.screen[Symbol.dispose]()
  equal(tty.happened(), `${leave}<paused>`)
  tty.process.emit('exit')
  equal(tty.happened(), '')
  deepEqual(tty.process.eventNames(), [], 'no listener remains')
})

test('ctrl-z leaves the screen, stops the foreground job and enters again when it is continued', async () => {
  using tty = open()
  tty.happened()
  const stopped = once(tty.process, 'killed')
  const suspended = tty.screen.suspend()
  await stopped
  equal(tty.happened(), leave)
  deepEqual(tty.process.signals, [[0, 'SIGTSTP']])
  tty.process.emit('SIGCONT')
  await suspended
  equal(tty.happened(), enter)
})

for (const [what, end] of [
  ['an exit, also after an error', (process: FakeProcess) => process.emit('exit')],
  [
    'an error that is not caught, before it is printed',
    (process: FakeProcess) => process.emit('uncaughtExceptionMonitor'),
  ],
  ['a hangup', (process: FakeProcess) => throws(() => process.emit('SIGHUP'), { message: 'exit 129' })],
] as const)
  test(`${what} restores the terminal`, () => {
    using tty = open()
    tty.happened()
    end(tty.process)
    equal(tty.happened(), leave)
  })

test('a terminal that is gone is no error', () => {
  using tty = open()
  tty.hangUp()
  throws(() => tty.process.emit('SIGHUP'), { message: 'exit 129' })
})

for (const [effect, command] of [
  [{ kind: 'edit', object }, ['kubectl', 'edit', '--kubeconfig', 'config', '--namespace', 'default', 'pods/web-0']],
  [
    { kind: 'shell', object, container: 'main' },
    [
      ...['kubectl', 'exec', '--stdin', '--tty', '--kubeconfig', 'config', '--namespace', 'default'],
      ...['--container', 'main', 'web-0', '--', 'sh', '-c', 'command -v bash >/dev/null && exec bash || exec sh'],
    ],
  ],
] as const)
  test(`kubectl has the terminal during ${effect.kind}`, async () => {
    using tty = open()
    tty.happened()
    const done = tty.screen.run(effect, signal)
    equal(tty.happened(), leave)
    deepEqual(tty.runs[0]?.command, command)
    tty.runs[0]?.ended.resolve()
    await done
    equal(tty.happened(), enter)

    const failed = tty.screen.run(effect, signal)
    tty.runs[1]?.ended.reject(new Error('kubectl ended with 1'))
    await rejects(failed, { message: 'kubectl ended with 1' })
    equal(tty.happened(), leave + enter)
  })

test('the screen is not entered after its end', async () => {
  using tty = open()
  const done = tty.screen.run({ kind: 'edit', object }, signal)
  const suspended = tty.screen.suspend()
  tty.screen[Symbol.dispose]()
  tty.happened()
  tty.runs[0]?.ended.resolve()
  tty.process.emit('SIGCONT')
  await Promise.all([done, suspended])
  equal(tty.happened(), '')
})

test('an interrupt during another program is for that program', async () => {
  using tty = open()
  let interrupts = 0
  tty.process.on('SIGINT', () => interrupts++)
  const done = tty.screen.run({ kind: 'edit', object }, signal)
  tty.process.emit('SIGINT')
  equal(interrupts, 0)
  tty.runs[0]?.ended.resolve()
  await done
  tty.process.emit('SIGINT')
  deepEqual([interrupts, tty.process.listenerCount('SIGINT')], [1, 1])
})

test('a terminal without a size has the usual one', () => {
  using tty = open()
  Object.assign(tty.output, { columns: 0, rows: 0 })
  deepEqual(tty.screen.size, { width: 80, height: 24 })
})
