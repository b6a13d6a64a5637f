// Sends one query to one upstream server and waits for its response: over UDP, then over TCP if the response is
// truncated. Each query has a random id and a socket with a random port, and only a response to its own question counts.
import type { Clock } from '../../base/time/clock.ts'
import type { Random } from '../../base/random/random.ts'
import type { ByteStream } from '../../platform/http/byte-stream.ts'
import type { Peer, Sockets } from '../../platform/sockets/sockets.ts'
import { decodeResponse, type DecodedResponse } from '../message/decode-response.ts'
import { encodeQuery, type UpstreamQuery } from '../message/encode-message.ts'
import { classInternet, messageBytesMax } from '../message/header.ts'
import { framed, FrameReader } from '../message/stream-frames.ts'

export interface ExchangeDeps {
  readonly sockets: Pick<Sockets, 'connectDatagrams' | 'connectStream'>
  readonly clock: Clock
  readonly random: Random
}

export type ForwardedQuestion = Omit<UpstreamQuery, 'id'>

/** Undefined if the server does not respond in time. Never throws. */
export async function exchange(
  { sockets, clock, random }: ExchangeDeps,
  server: Peer,
  question: ForwardedQuestion,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<DecodedResponse | undefined> {
  const query = { ...question, id: random.below(0x1_0000) }
  const timeout = new AbortController()
  const stop = AbortSignal.any([signal, timeout.signal])
  const timer = clock.after(timeoutMs, () => timeout.abort())
  try {
    const response = await overDatagrams(sockets, server, query, stop)
    return response?.isTruncated === true ? ((await overStream(sockets, server, query, stop)) ?? response) : response
  } catch {
    return undefined
  } finally {
    timer.cancel()
  }
}

/** The response, if it belongs to the query. Others may be forged, and are ignored. */
function matching(bytes: Uint8Array, { id, question }: UpstreamQuery): DecodedResponse | undefined {
  const response = decodeResponse(bytes)
  if (response === undefined || response.id !== id) return undefined
  const { name, type, class: ofClass } = response.question
  return name === question.name && type === question.type && ofClass === classInternet ? response : undefined
}

async function overDatagrams(
  sockets: ExchangeDeps['sockets'],
  server: Peer,
  query: UpstreamQuery,
  signal: AbortSignal,
): Promise<DecodedResponse | undefined> {
  const { promise, resolve } = Promise.withResolvers<DecodedResponse | undefined>()
  const giveUp = () => resolve(undefined)
  signal.addEventListener('abort', giveUp, { once: true })
  const socket = await sockets.connectDatagrams(server, {
    onUnreachable: giveUp,
    onDatagram(bytes) {
      const response = matching(bytes, query)
      if (response !== undefined) resolve(response)
    },
  })
  try {
    if (signal.aborted) return undefined
    socket.send(encodeQuery(query))
    return await promise
  } finally {
    signal.removeEventListener('abort', giveUp)
    socket.close()
  }
}

async function overStream(
  sockets: ExchangeDeps['sockets'],
  server: Peer,
  query: UpstreamQuery,
  signal: AbortSignal,
): Promise<DecodedResponse | undefined> {
  const stream = await sockets.connectStream(server, signal)
  const close = () => stream.destroy()
  signal.addEventListener('abort', close, { once: true })
  try {
    await stream.write(framed(encodeQuery(query)))
    return await firstResponse(stream, query)
  } finally {
    signal.removeEventListener('abort', close)
    stream.destroy()
  }
}

async function firstResponse({ pieces }: ByteStream, query: UpstreamQuery): Promise<DecodedResponse | undefined> {
  const reader = new FrameReader(messageBytesMax)
  for await (const piece of pieces)
    for (const message of reader.push(piece) ?? []) {
      const response = matching(message, query)
      if (response !== undefined) return response
    }
  return undefined
}
