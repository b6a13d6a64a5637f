// One direction of a connection: order, delays, losses, backpressure, and its ends.
import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { PacketPipe, pipeBytesMax } from './packet-pipe.ts'

/** A pipe whose packets have these delays, in order; then none. */
function pipeWith(delays: readonly (number | undefined)[] = []) {
  const clock = new VirtualClock(0)
  const left = [...delays]
  const calls: string[] = []
  const pipe = new PacketPipe({
    clock,
    delayMs: () => (left.length > 0 ? left.shift() : 0),
    onTimeout: () => calls.push('timeout'),
    onDone: () => calls.push('done'),
    resetError: () => new Error('reset'),
  })
  const seen: string[] = []
  const read = (async () => {
    for await (const piece of pipe.read()) seen.push(`${clock.nowMs()} ${new TextDecoder().decode(piece)}`)
    seen.push(`${clock.nowMs()} end`)
  })()
  read.catch(() => {})
  return { pipe, clock, calls, seen, read }
}
const bytes = (text: string) => new TextEncoder().encode(text)

const cases: readonly (readonly [name: string, delays: readonly (number | undefined)[], seen: readonly string[]])[] = [
  ['without delays everything arrives at once', [], ['0 a', '0 b', '0 end']],
  ['equal delays are not added up', [100, 100, 100], ['100 a', '100 b', '100 end']],
  ['a faster packet does not overtake', [300, 100], ['300 a', '300 b', '300 end']],
  ['a lost packet is sent again after 200 ms', [undefined, 0, 0], ['200 a', '200 b', '200 end']],
  ['a packet that is lost again waits for twice as long', [undefined, 0, 0, undefined], ['600 a', '600 b', '600 end']],
  ['packets before a lost one arrive', [0, undefined], ['0 a', '200 b', '200 end']],
]
for (const [name, delays, expected] of cases)
  test(name, async () => {
    const { pipe, clock, seen, calls } = pipeWith(delays)
    await pipe.write(bytes('a'))
    await pipe.write(bytes(''))
    await pipe.write(bytes('b'))
    pipe.end()
    await clock.advance('1s')
    deepEqual(seen, expected)
    deepEqual(calls, ['done'])
  })

test('after 15 retransmissions, within 16 minutes, the connection times out', async () => {
  const { pipe, clock, calls } = pipeWith(Array.from({ length: 16 }, () => undefined))
  await pipe.write(bytes('a'))
  await clock.advance('15m')
  deepEqual(calls, [])
  await clock.advance('1m')
  deepEqual(calls, ['timeout'])
})

test('the writer waits while too many bytes are unread', async () => {
  const clock = new VirtualClock()
  const deps = { clock, delayMs: () => 0, onTimeout: () => {}, onDone: () => {}, resetError: () => new Error('reset') }
  const pipe = new PacketPipe(deps)
  await pipe.write(new Uint8Array(pipeBytesMax))
  let isWritten = false
  const written = pipe.write(bytes('b')).then(() => (isWritten = true))
  await clock.settle()
  equal(isWritten, false)
  const reader = pipe.read()
  await reader.next()
  await written
  equal(isWritten, true)
})

for (const [kind, piece] of [
  ['an array of bytes', bytes('a')],
  ['a Buffer', Buffer.from('a')],
] as const)
  test(`${kind} is copied, so the writer may reuse it`, async () => {
    const { pipe, clock, seen } = pipeWith([10])
    await pipe.write(piece)
    piece[0] = 0
    await clock.advance(10)
    deepEqual(seen, ['10 a'])
  })

test('writes fail after the reader has left, after a failure, and after the end', async () => {
  const left = pipeWith()
  left.pipe.leave()
  await rejects(left.pipe.write(bytes('a')), /^Error: reset$/)
  await left.read
  const failed = pipeWith()
  failed.pipe.fail(new Error('broken'))
  await rejects(failed.pipe.write(bytes('a')), /^Error: broken$/)
  await rejects(failed.read, /^Error: broken$/)
  const ended = pipeWith()
  ended.pipe.end()
  await rejects(ended.pipe.write(bytes('a')), /^Error: write after end$/)
  deepEqual([...left.calls, ...failed.calls, ...ended.calls], ['done', 'done', 'done'])
})

test('a cut pipe delivers nothing and does not report it', async () => {
  const { pipe, clock, seen, calls } = pipeWith([100])
  await pipe.write(bytes('a'))
  pipe.cut()
  await pipe.write(bytes('b'))
  pipe.end()
  await clock.advance('1h')
  deepEqual([seen, calls], [[], []])
})
