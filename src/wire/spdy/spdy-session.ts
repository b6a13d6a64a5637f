// SpdySession: many streams on one connection, in the subset of SPDY/3.1 that Kubernetes uses. There is no flow control
// per stream: a slow reader pauses the whole connection and thereby the sender. Pings are returned; pushes and
// priorities are not used.
import { Channel } from '../../base/async/channel.ts'
import type { ByteStream } from '../../platform/http/byte-stream.ts'
import type { InflateRaw } from '../../platform/inflate.ts'
import { BytePipe } from '../byte-pipe.ts'
import { encodeFrame, resetCodes, SpdyError, SpdyFrameReader, type SpdyFrame } from './spdy-frame.ts'
import { HeaderReader, HeaderWriter, type SpdyHeaders } from './header-block.ts'

/** Concurrent streams, in both directions together. */
const streamsMax = 4_096
/** The unread bytes of one stream from which on the connection is paused. */
const streamBytesMax = 1024 * 1024
const dataBytesMax = 64 * 1024

export interface SpdyStream extends ByteStream {
  /** The headers with which the stream was opened; names in lower case. */
  readonly headers: SpdyHeaders
}

interface OpenStream {
  readonly stream: SpdyStream
  readonly incoming: BytePipe
  /** Settled by the reply of the peer, for streams that we open. */
  readonly replied: PromiseWithResolvers<void> | undefined
  isEndedHere: boolean
  isEndedThere: boolean
}

export class SpdySession {
  /** The streams that the peer opens. */
  readonly incoming = new Channel<SpdyStream>(streamsMax)
  readonly #socket: ByteStream
  readonly #streams = new Map<number, OpenStream>()
  readonly #headerWriter = new HeaderWriter()
  readonly #headerReader: HeaderReader
  readonly #parity: 0 | 1
  #nextId: number
  #isOver = false

  constructor(socket: ByteStream, side: 'client' | 'server', inflateRaw: InflateRaw) {
    this.#headerReader = new HeaderReader(inflateRaw)
    this.#socket = socket
    this.#parity = side === 'client' ? 1 : 0
    this.#nextId = side === 'client' ? 1 : 2
  }

  /** Reads until the connection ends. Rejects when the peer violates the protocol. */
  async run(): Promise<void> {
    const frames = new SpdyFrameReader()
    try {
      for await (const piece of this.#socket.pieces) for (const frame of frames.push(piece)) await this.#onFrame(frame)
    } finally {
      this.#isOver = true
      this.incoming.end()
      for (const open of this.#streams.values()) {
        open.incoming.end()
        open.replied?.reject(new SpdyError('the connection ended'))
      }
      this.#streams.clear()
      this.#socket.end()
    }
  }

  /** Resolves when the peer has accepted the stream: it ignores data before that. */
  async open(headers: SpdyHeaders): Promise<SpdyStream> {
    if (this.#isOver || this.#streams.size >= streamsMax) throw new SpdyError('no stream can be opened')
    const id = this.#nextId
    this.#nextId += 2
    const opened = this.#add(id, headers, Promise.withResolvers())
    await this.#send({ kind: 'open', id, isLast: false, block: this.#headerWriter.write(headers) })
    await opened.replied?.promise
    return opened.stream
  }

  /** Sends GOAWAY and ends the connection after what was written. */
  async close(): Promise<void> {
    if (!this.#isOver) await this.#trySend({ kind: 'goaway' })
    this.#socket.end()
  }

  async #onFrame(frame: SpdyFrame): Promise<void> {
    if (frame.kind === 'ping') {
      if (frame.id % 2 !== this.#parity) await this.#trySend(frame)
      return
    }
    if (frame.kind === 'goaway') return this.incoming.end()
    // Every header block is read, also of unknown streams: the blocks form one compressed stream.
    const headers = 'block' in frame ? this.#headerReader.read(frame.block) : {}
    if (frame.kind === 'open') return this.#accept(frame.id, headers, frame.isLast)
    const open = this.#streams.get(frame.id)
    if (open === undefined) return // it was destroyed here, and the peer does not know yet
    if (frame.kind === 'reset') {
      open.replied?.reject(new SpdyError(`the peer reset the stream with code ${frame.code}`))
      open.incoming.end()
      this.#streams.delete(frame.id)
      return
    }
    if (frame.kind === 'reply') open.replied?.resolve()
    if (frame.kind === 'data') await open.incoming.write(frame.bytes)
    if (frame.isLast) {
      open.incoming.end()
      open.isEndedThere = true
      this.#removeIfEnded(frame.id, open)
    }
  }

  async #accept(id: number, headers: SpdyHeaders, isLast: boolean): Promise<void> {
    if (id % 2 === this.#parity || this.#streams.has(id)) throw new SpdyError(`stream ${id} cannot be opened`)
    if (this.#streams.size >= streamsMax || this.incoming.ended)
      return this.#trySend({ kind: 'reset', id, code: resetCodes.refused })
    const open = this.#add(id, headers, undefined)
    if (isLast) {
      open.incoming.end()
      open.isEndedThere = true
    }
    await this.#trySend({ kind: 'reply', id, isLast: false, block: this.#headerWriter.write({}) })
    this.incoming.push(open.stream)
  }

  #add(id: number, headers: SpdyHeaders, replied: PromiseWithResolvers<void> | undefined): OpenStream {
    const incoming = new BytePipe(streamBytesMax)
    replied?.promise.catch(() => {}) // open() reports it
    const endHere = (open: OpenStream): boolean => {
      if (open.isEndedHere || this.#streams.get(id) !== open) return false
      open.isEndedHere = true
      this.#removeIfEnded(id, open)
      return true
    }
    const open: OpenStream = {
      incoming,
      replied,
      isEndedHere: false,
      isEndedThere: false,
      stream: {
        headers,
        pieces: incoming.read(),
        write: async (piece) => {
          for (let at = 0; at < piece.length; at += dataBytesMax) {
            if (open.isEndedHere || this.#streams.get(id) !== open) throw new SpdyError('the stream has ended')
            await this.#send({ kind: 'data', id, isLast: false, bytes: piece.subarray(at, at + dataBytesMax) })
          }
        },
        end: () => {
          if (endHere(open)) void this.#trySend({ kind: 'data', id, isLast: true, bytes: new Uint8Array() })
        },
        destroy: () => {
          incoming.abandon()
          if (endHere(open)) void this.#trySend({ kind: 'reset', id, code: resetCodes.cancel })
          this.#streams.delete(id)
        },
      },
    }
    this.#streams.set(id, open)
    return open
  }

  #removeIfEnded(id: number, open: OpenStream): void {
    if (open.isEndedHere && open.isEndedThere) this.#streams.delete(id)
  }

  /** For frames that may be lost when the connection ends. */
  #trySend(frame: SpdyFrame): Promise<void> {
    return this.#send(frame).catch(() => {})
  }

  #send(frame: SpdyFrame): Promise<void> {
    return this.#socket.write(encodeFrame(frame))
  }
}
