// Container logs: CRI's format, options of reading, following across rotations, and rotation.
import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../../base/observability/log.ts'
import { eventLoopTurn } from '../../base/async/event-loop-turn.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import type { LogFile, LogFiles, LogDirectory } from '../../machine/logs/log-files.ts'
import { fixedNanoseconds, parseCriLine } from './cri-line.ts'
import { readLog, type LogOptions, type LogSource } from './read-log.ts'
import { LogRotator } from './log-rotator.ts'

const encode = (text: string) => new TextEncoder().encode(text)
const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

const lines: [line: string, content: string | undefined, isPartial?: boolean][] = [
  ['2026-01-02T03:04:05Z stdout F hello\n', 'hello\n', false],
  ['2026-01-02T03:04:05.1Z stderr P part\n', 'part', true],
  ['2026-01-02T03:04:05Z stdout F \n', '\n', false],
  ['2026-01-02T03:04:05Z stdout P:x two  blanks\n', 'two  blanks', true],
  ['no such thing\n', undefined],
  ['2026-01-02T03:04:05Z stdlog F x\n', undefined],
]
for (const [line, content, isPartial] of lines)
  test(`a CRI log line: ${JSON.stringify(line)}`, () => {
    const parsed = parseCriLine(encode(line))
    equal(parsed && decode(parsed.content), content)
    equal(parsed?.isPartial, isPartial)
  })

test('timestamps have nine fractional digits', () => {
  equal(fixedNanoseconds('2026-01-02T03:04:05Z'), '2026-01-02T03:04:05.000000000Z')
  equal(fixedNanoseconds('2026-01-02T03:04:05.12+01:00'), '2026-01-02T03:04:05.120000000+01:00')
})

/** Files in memory that grow, are renamed and are created again. */
class TestFiles implements LogFiles, LogDirectory {
  readonly files = new Map<string, { content: Uint8Array }>()
  readonly waiting = new Set<() => void>()

  append(path: string, text: string): void {
    const file = this.files.get(path) ?? { content: new Uint8Array() }
    this.files.set(path, file)
    file.content = Buffer.concat([file.content, encode(text)])
    this.wake()
  }

  wake(): void {
    for (const resolve of [...this.waiting]) resolve()
    this.waiting.clear()
  }

  open(path: string): Promise<LogFile | undefined> {
    const file = this.files.get(path)
    if (file === undefined) return Promise.resolve(undefined)
    return Promise.resolve({
      range: () => Promise.resolve({ start: 0, end: file.content.length }),
      read: (at, bytesMax) => Promise.resolve(file.content.subarray(at, at + bytesMax)),
      isReplaced: () => Promise.resolve(this.files.has(path) && this.files.get(path) !== file),
      waitForChange: (signal) => {
        signal.throwIfAborted()
        return new Promise<void>((resolve) => this.waiting.add(resolve))
      },
      [Symbol.asyncDispose]: () => Promise.resolve(),
    })
  }

  sizeOf = (path: string) => Promise.resolve(this.files.get(path)?.content.length ?? 0)
  list = (prefix: string) =>
    Promise.resolve([...this.files.keys()].filter((path) => path.startsWith(prefix)).toSorted())
  move = (from: string, to: string) => Promise.resolve(this.#rename(from, to))
  compress = (path: string) => Promise.resolve(this.#rename(path, `${path}.gz`))
  remove = (path: string) => Promise.resolve(void this.files.delete(path))

  #rename(from: string, to: string): void {
    const file = this.files.get(from)
    if (file === undefined) throw new Error(`${from} is not there`)
    this.files.delete(from)
    this.files.set(to, file)
  }
}

const all: LogOptions = {
  follow: false,
  timestamps: false,
  tailLines: undefined,
  sinceMs: undefined,
  limitBytes: undefined,
}
const { signal } = new AbortController()
const second = (n: number) => `2026-01-02T03:04:0${n}Z`
const content = [
  `${second(1)} stdout F one\n`,
  `${second(2)} stderr P two `,
  `\n${second(2)} stderr F in full\n`,
  `${second(3)} stdout F three\n`,
].join('')

const reads: [name: string, options: Partial<LogOptions>, shown: string][] = [
  ['the whole log, with partial lines joined', {}, 'one\ntwo in full\nthree\n'],
  ['the last line', { tailLines: 1 }, 'three\n'],
  ['no line', { tailLines: 0 }, ''],
  ['more lines than exist', { tailLines: 100 }, 'one\ntwo in full\nthree\n'],
  ['since a time', { sinceMs: Date.parse(second(3)) }, 'three\n'],
  ['a limit of bytes', { limitBytes: 6 }, 'one\ntw'],
  [
    'with timestamps, one per line',
    { timestamps: true, limitBytes: 82 },
    '2026-01-02T03:04:01.000000000Z one\n2026-01-02T03:04:02.000000000Z two in full\n2026',
  ],
]
for (const [name, options, shown] of reads)
  test(`a log is shown: ${name}`, async () => {
    const files = new TestFiles()
    files.append('/log', content)
    equal(await textOf(readLog(source(files), { ...all, ...options }, signal)), shown)
  })

const source = (files: LogFiles, isRunning = () => Promise.resolve(true)): LogSource => ({
  files,
  path: '/log',
  isRunning,
})

async function textOf(pieces: AsyncIterable<Uint8Array>): Promise<string> {
  let text = ''
  for await (const piece of pieces) text += decode(piece)
  return text
}

test('lines that are printed during a read are only returned with follow', async () => {
  const files = new TestFiles()
  const line = (text: string) => files.append('log', `2026-01-02T03:04:05Z stdout F ${text}\n`)
  line('one')
  line('two')
  // A line is appended on every read.
  const open = (path: string) =>
    files.open(path).then(
      (file) =>
        file && {
          ...file,
          read: async (at: number, bytesMax: number) => {
            line('more')
            return file.read(at, bytesMax)
          },
          [Symbol.asyncDispose]: () => file[Symbol.asyncDispose](),
        },
    )
  const logSource = { files: { open }, path: 'log', isRunning: () => Promise.resolve(true) }
  equal(await textOf(readLog(logSource, { ...all, tailLines: 1 }, signal)), 'two\n')
})

test('a log larger than a block is returned completely, and its tail is found', async () => {
  const files = new TestFiles()
  const count = 5_000
  files.append('/log', Array.from({ length: count }, (_, n) => `${second(1)} stdout F line number ${n}\n`).join(''))
  const text = await textOf(readLog(source(files), all, signal))
  deepEqual([text.split('\n').length, text.includes('line number 4999\n')], [count + 1, true])
  const tail = await textOf(readLog(source(files), { ...all, tailLines: 3_000 }, signal))
  deepEqual([tail.split('\n').length, tail.split('\n')[0]], [3_001, 'line number 2000'])
})

test('a missing log is empty', async () => {
  equal(await textOf(readLog(source(new TestFiles()), { ...all, follow: true }, signal)), '')
})

test('a followed log is returned as it grows, across a rotation, until the container has exited', async () => {
  const files = new TestFiles()
  let isRunning = true
  files.append('/log', `${second(1)} stdout F first\n`)
  const reading = readLog(
    source(files, () => Promise.resolve(isRunning)),
    { ...all, follow: true },
    signal,
  )
  const next = async () => decode((await reading.next()).value as Uint8Array)
  equal(await next(), 'first\n')
  const second_ = next()
  await eventLoopTurn()
  files.append('/log', `${second(2)} stdout F second\n`)
  equal(await second_, 'second\n')
  files.append('/log', `${second(3)} stdout F last of the old\n`)
  await files.move('/log', '/log.1')
  files.append('/log', `${second(4)} stdout F first of the new\n`)
  equal(await next(), 'last of the old\n')
  equal(await next(), 'first of the new\n')
  const end = reading.next()
  await eventLoopTurn()
  isRunning = false
  files.append('/log', `${second(5)} stdout F last words\n`)
  equal(decode((await end).value as Uint8Array), 'last words\n')
  const over = reading.next()
  await eventLoopTurn()
  files.wake() // as the periodic check does
  equal((await over).done, true)
})

test('lines that the runtime writes to the old file after a rotation come before those of the new one', async () => {
  const files = new TestFiles()
  let isRunning = true
  files.append('/log', `${second(1)} stdout F first\n`)
  const reading = readLog(
    source(files, () => Promise.resolve(isRunning)),
    { ...all, follow: true },
    signal,
  )
  const next = async () => decode((await reading.next()).value as Uint8Array)
  equal(await next(), 'first\n')
  const late = next()
  await files.move('/log', '/log.1')
  files.append('/log', '')
  await eventLoopTurn()
  files.append('/log.1', `${second(2)} stdout F late\n`)
  equal(await late, 'late\n')
  const last = next()
  await eventLoopTurn()
  files.append('/log.1', `${second(3)} stdout F last of the old\n`)
  files.append('/log', `${second(4)} stdout F first of the new\n`)
  equal(await last, 'last of the old\n')
  equal(await next(), 'first of the new\n')
  await files.move('/log', '/log.2')
  files.append('/log', '')
  isRunning = false
  const over = reading.next()
  await eventLoopTurn()
  files.wake()
  equal((await over).done, true)
})

test('following stops when the client disconnects', async () => {
  const files = new TestFiles()
  files.append('/log', content)
  const gone = new AbortController()
  const reading = readLog(source(files), { ...all, follow: true }, gone.signal)
  await reading.next()
  gone.abort()
  await rejects(reading.next(), { name: 'AbortError' })
})

test('a log that is too large is rotated; older files are compressed, the oldest removed', async () => {
  const files = new TestFiles()
  const reopened: string[] = []
  let fails = false
  const container = { id: 'c1', state: 'running', logPath: '/p/c/0.log' }
  const runtime = {
    podUids: () => Promise.resolve(['uid']),
    inspect: () => Promise.resolve({ containers: [container, { ...container, id: 'c0', state: 'exited' }] } as never),
    reopenLog(id: string) {
      if (fails) return Promise.reject(new Error('the runtime is away'))
      reopened.push(id)
      return Promise.resolve()
    },
  }
  const clock = new VirtualClock()
  const rotator = new LogRotator(
    { runtime, directory: files, clock, log: silentLog },
    { fileBytesMax: 10, filesMax: 3, intervalMs: 10_000 },
  )
  files.append('/p/c/0.log', 'short')
  await rotator.rotateAll(signal)
  deepEqual(reopened, [])
  for (let round = 0; round < 4; round++) {
    files.append('/p/c/0.log', 'longer than it may be')
    await rotator.rotateAll(signal)
    await clock.advance(1_000)
  }
  deepEqual(reopened, ['c1', 'c1', 'c1', 'c1'])
  deepEqual([...files.files.keys()].toSorted(), ['/p/c/0.log.20300101-000002.gz', '/p/c/0.log.20300101-000003'])
  fails = true
  files.append('/p/c/0.log', 'longer than it may be')
  await rotator.rotateAll(signal)
  equal(await files.sizeOf('/p/c/0.log'), 21, 'the file has its name again')
})
