// One TCP connection of a client: queries may be pipelined (RFC 7766), and responses are sent as they are available.
import type { MaybePromise } from '../../base/async/maybe-promise.ts'
import type { Clock, Timer } from '../../base/time/clock.ts'
import type { ByteStream } from '../../platform/http/byte-stream.ts'
import { framed, FrameReader } from '../message/stream-frames.ts'

/** A connection without a query, or whose client takes no response, is closed after this time. */
const idleMs = 10_000
/** Queries that are answered at the same time; further ones are not read. */
const pipelinedMax = 8
/** A query has one name and a few options. */
const queryBytesMax = 4_096

export type Respond = (query: Uint8Array) => MaybePromise<Uint8Array | undefined>

/** Serves the stream until it ends. Never rejects. */
export async function serveStream(stream: ByteStream, respond: Respond, clock: Clock): Promise<void> {
  const close = () => stream.destroy()
  let timer: Timer = clock.after(idleMs, close)
  let isOver = false
  const onProgress = () => {
    timer.cancel()
    if (!isOver) timer = clock.after(idleMs, close)
  }
  const running = new Set<Promise<void>>()
  const answer = async (query: Uint8Array): Promise<void> => {
    try {
      const response = await respond(query)
      if (response !== undefined) await stream.write(framed(response))
      onProgress()
    } catch {
      close()
    }
  }
  const reader = new FrameReader(queryBytesMax)
  try {
    for await (const piece of stream.pieces) {
      const queries = reader.push(piece)
      if (queries === undefined) break
      for (const query of queries) {
        onProgress()
        const answered: Promise<void> = answer(query).finally(() => running.delete(answered))
        running.add(answered)
        if (running.size >= pipelinedMax) await Promise.race(running)
      }
    }
    await Promise.all(running)
    stream.end()
  } catch {
    close()
  } finally {
    isOver = true
    timer.cancel()
  }
}
