import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Channel } from '../../base/async/channel.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import type { ByteStream } from '../../platform/http/byte-stream.ts'
import { framed } from '../message/stream-frames.ts'
import { serveStream, type Respond } from './stream-session.ts'

/** A query is one byte here, and so is its response. */
function sessionOf(respond: Respond) {
  const clock = new VirtualClock()
  const incoming = new Channel<Uint8Array>(100)
  const written = [] as number[]
  const state = { isDestroyed: false, isEnded: false, takesWrites: true }
  const stream: ByteStream = {
    pieces: incoming,
    async write(piece) {
      if (!state.takesWrites) return new Promise(() => {})
      written.push(piece[2] ?? -1)
    },
    end() {
      state.isEnded = true
    },
    destroy() {
      state.isDestroyed = true
      incoming.end()
    },
  }
  const served = serveStream(stream, respond, clock)
  const send = (...queries: readonly number[]) => {
    for (const query of queries) incoming.push(framed(Uint8Array.of(query)))
    return clock.settle()
  }
  return { clock, incoming, written, state, send, served }
}

const echo: Respond = (query) => query

describe('a TCP connection', () => {
  test('responds to several queries, also in one piece', async () => {
    const { send, incoming, written, state, served } = sessionOf(echo)
    await send(1)
    incoming.push(Uint8Array.of(0, 1, 2, 0, 1, 3, 0))
    incoming.push(Uint8Array.of(1, 4))
    incoming.end()
    await served
    assert.deepEqual([written, state], [[1, 2, 3, 4], { isDestroyed: false, isEnded: true, takesWrites: true }])
  })

  test('sends responses as they are available', async () => {
    const first = Promise.withResolvers<Uint8Array>()
    const { send, incoming, written, served } = sessionOf((query) => (query[0] === 1 ? first.promise : query))
    await send(1, 2)
    assert.deepEqual(written, [2])
    first.resolve(Uint8Array.of(1))
    incoming.end()
    await served
    assert.deepEqual(written, [2, 1])
  })

  test('reads no further queries while eight are waiting', async () => {
    const asked: Promise<Uint8Array>[] = []
    const gate = Promise.withResolvers<Uint8Array>()
    const { send, incoming, served } = sessionOf(() => {
      asked.push(gate.promise)
      return gate.promise
    })
    await send(1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
    assert.equal(asked.length, 8)
    gate.resolve(Uint8Array.of(0))
    incoming.end()
    await served
    assert.equal(asked.length, 10)
  })

  test('ignores what gets no response', async () => {
    const { send, incoming, written, served } = sessionOf(() => undefined)
    await send(1)
    incoming.end()
    await served
    assert.deepEqual(written, [])
  })

  test('is closed when it is idle', async () => {
    const { send, clock, state, served } = sessionOf(echo)
    await clock.advance('9s')
    await send(1)
    await clock.advance('9s')
    assert.equal(state.isDestroyed, false)
    await clock.advance('1s')
    await served
    assert.equal(state.isDestroyed, true)
  })

  test('is closed if the client sends a query byte by byte for too long', async () => {
    const { incoming, clock, state, served } = sessionOf(echo)
    for (const byte of [0, 9, 1, 1]) {
      incoming.push(Uint8Array.of(byte))
      await clock.advance('3s')
    }
    await served
    assert.equal(state.isDestroyed, true)
  })

  test('is closed if the client takes no response', async () => {
    const { send, clock, state, served } = sessionOf(echo)
    state.takesWrites = false
    await send(1)
    await clock.advance('11s')
    assert.equal(state.isDestroyed, true)
    void served
  })

  test('is closed after a query that is too long', async () => {
    const { incoming, written, state, served } = sessionOf(echo)
    incoming.push(Uint8Array.of(0xff, 0xff))
    await served
    assert.deepEqual([written, state.isEnded], [[], true])
  })

  test('is closed if a response fails', async () => {
    const { send, state, served } = sessionOf(() => Promise.reject(new Error('a defect')))
    await send(1)
    await served
    assert.equal(state.isDestroyed, true)
  })

  test('leaves no timer behind when it ends before a response', async () => {
    const late = Promise.withResolvers<Uint8Array>()
    const { send, incoming, clock, served } = sessionOf(() => late.promise)
    await send(1)
    incoming.end(new Error('the connection was reset'))
    await served
    late.resolve(Uint8Array.of(1))
    await clock.settle()
    assert.equal(clock.pendingTimers, 0)
  })
})
