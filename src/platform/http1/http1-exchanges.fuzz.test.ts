// Every request on a keep-alive connection has exactly one complete response, in order, however its bytes are split, however
// long its handler waits before it reads the body, and however slowly the client reads. The client honours pauses: a socket
// that stays paused loses the next request.
import { deepEqual, ok } from 'node:assert/strict'
import { eventLoopTurn } from '../../base/async/event-loop-turn.ts'
import { fuzz, pick } from '../../base/random/fuzz.harness.ts'
import type { Random } from '../../base/random/random.ts'
import type { StreamedRequest, WireResponse } from '../http/listener.ts'
import { connect } from './http1-connection.harness.ts'

/** Above and below the limits of what is buffered, discarded and sent in one frame. */
const bodySizes = [0, 1, 1_000, 16_000, 65_535, 65_536, 65_537, 70_000, 140_000, 200_000]
const handlers = ['whole', 'streamed', 'left early', 'not read'] as const

interface Exchange {
  readonly bytes: number
  readonly isChunked: boolean
  readonly handler: (typeof handlers)[number]
  /** Turns of the event loop before the body is read, and before the response. */
  readonly turnsBefore: number
  readonly turnsAfter: number
  readonly isLongResponse: boolean
}

interface Session {
  readonly exchanges: readonly Exchange[]
  /** Sizes of the pieces in which the bytes are sent, repeated. */
  readonly pieces: readonly number[]
  readonly isSlowReader: boolean
  /** Every request waits for its turn. */
  readonly isBusy: boolean
  /** Requests are sent without waiting for responses. */
  readonly isPipelined: boolean
  /** The client ends its side after the last request. */
  readonly endsSending: boolean
}

const exchangeOf = (random: Random): Exchange => {
  const isChunked = random.below(4) === 0
  const handler = pick(random, handlers)
  return {
    bytes: pick(random, bodySizes),
    isChunked,
    // The connection is closed after a response to an unread body of unknown length.
    handler: isChunked && (handler === 'not read' || handler === 'left early') ? 'whole' : handler,
    turnsBefore: random.below(4),
    turnsAfter: random.below(3),
    isLongResponse: random.below(8) === 0,
  }
}

const textOf = ({ bytes, isChunked }: Exchange, index: number): string => {
  const body = String.fromCharCode(97 + (index % 26)).repeat(bytes)
  const head = `POST /${index} HTTP/1.1\r\nHost: x\r\n`
  if (!isChunked) return `${head}Content-Length: ${bytes}\r\n\r\n${body}`
  const chunk = bytes === 0 ? '' : `${bytes.toString(16)}\r\n${body}\r\n`
  return `${head}Transfer-Encoding: chunked\r\n\r\n${chunk}0\r\n\r\n`
}

const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn++) await eventLoopTurn()
}

async function receivedBytes(request: StreamedRequest, handler: Exchange['handler']): Promise<number | undefined> {
  if (handler === 'whole') return (await request.body(1 << 20)).length
  if (handler === 'not read') return undefined
  let bytes = 0
  for await (const piece of request.bodyPieces(1 << 20)) {
    bytes += piece.length
    if (handler === 'left early') return undefined
    await eventLoopTurn()
  }
  return handler === 'left early' ? undefined : bytes
}

const longResponse = 'r'.repeat(100_000)

/** Exchanges wait for one another only if the connection has stopped; each takes a few turns for each piece. */
const turnsMax = 20_000

fuzz('exchanges on one connection', {
  runs: 150,
  make: (random): Session => ({
    exchanges: Array.from({ length: random.below(5) + 2 }, () => exchangeOf(random)),
    pieces: pick(random, [[1 << 20], [16_384], [random.below(3_000) + 500], [1, 65_536], [300, 7, 70_000]]),
    isSlowReader: random.below(3) === 0,
    isBusy: random.below(2) === 0,
    isPipelined: random.below(2) === 0,
    endsSending: random.below(3) === 0,
  }),
  async check({ exchanges, pieces, isSlowReader, isBusy, isPipelined, endsSending }) {
    const received: (number | undefined)[] = []
    let ms = 0
    const handle = async (request: StreamedRequest): Promise<WireResponse> => {
      const index = Number(request.target.slice(1))
      const { handler, turnsBefore, turnsAfter, isLongResponse } = exchanges[index] as Exchange
      await turns(turnsBefore)
      received[index] = await receivedBytes(request, handler)
      await turns(turnsAfter)
      return { status: 200, headers: {}, body: `<${index}>${isLongResponse ? longResponse : ''}` }
    }
    const { peer } = connect(handle, {}, () => (isBusy ? (ms += 3) : 0))
    const texts = exchanges.map(textOf)
    const unsent = isPipelined ? [texts.join('')] : [...texts]
    let rest = ''
    let hasEndedSending = false
    const responses = () => peer.written().match(/<\d+>/g)?.length ?? 0
    for (let turn = 0; responses() < exchanges.length && !peer.hasEnded; turn++) {
      ok(turn < turnsMax, `the connection has stopped after ${responses()} responses`)
      if (isSlowReader && turn % 5 === 0) peer.stopReading()
      if (isSlowReader && turn % 5 === 4) await peer.resumeReading()
      if (rest === '' && (isPipelined || responses() === texts.length - unsent.length)) rest = unsent.shift() ?? ''
      if (endsSending && !hasEndedSending && !peer.isPaused && rest === '' && unsent.length === 0) {
        hasEndedSending = true
        await peer.endSending()
      } else if (peer.isPaused || rest === '') await peer.settle()
      else {
        const size = pieces[turn % pieces.length] as number
        await peer.send(rest.slice(0, size))
        rest = rest.slice(size)
      }
    }
    const answered = [...peer.written().matchAll(/<(\d+)>/g)].map(([, index]) => Number(index))
    // A body that is left while it arrives ends the connection, which the response announces.
    const last = exchanges[answered.length - 1]
    const isCut = peer.hasEnded && answered.length < exchanges.length
    if (isCut) deepEqual([last?.handler, /connection: close/i.test(peer.written())], ['left early', true])
    const served = isCut ? exchanges.slice(0, answered.length) : exchanges
    deepEqual(answered, [...served.keys()])
    deepEqual(
      received,
      served.map(({ handler, bytes }) => (handler === 'whole' || handler === 'streamed' ? bytes : undefined)),
    )
  },
})
