// LinkedSocket: the event loop's side of a connection whose TLS is handled by the thread.
import type { Duplex } from 'node:stream'
import { releaseBytes } from '../../../base/collections/release-bytes.ts'
import type { FairTurns } from '../../../base/work/fair-turns.ts'
import type { Http1Socket } from '../../http1/http1-socket.ts'
import { byteStreamOn } from '../socket/socket-byte-stream.ts'
import type { Chunk } from './byte-ring.ts'
import { frameBytesMax, type Link, type Sender } from './link.ts'
import { duplexOn, type SocketHandlers, type StreamSocket } from './linked-stream.ts'
import { countOf, fromClient, kindOf, tagOf, takenBytesMin, toClient, uint32, windowBytes } from './protocol.ts'

export class LinkedSocket implements Http1Socket, StreamSocket, Sender {
  readonly #link: Link
  readonly #id: number
  readonly #onClosed: (() => void)[] = []
  #handlers: SocketHandlers | undefined
  #chunks: Chunk[] = []
  #size = 0
  #isPlanned = false
  /** Bytes of all writes. */
  #written = 0
  /** Sent, and not acknowledged by the thread. */
  #unacknowledged = 0
  /** Taken from the client, and not reported. */
  #taken = 0
  #isBehind = false
  #isPaused = false
  #isClosed = false

  constructor(link: Link, id: number) {
    this.#link = link
    this.#id = id
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  get unsentBytes(): number {
    return this.#unacknowledged + this.#size
  }

  get sentBytes(): number {
    return this.#written - this.unsentBytes
  }

  handleWith(handlers: SocketHandlers): void {
    this.#handlers = handlers
  }

  onClosed(callback: () => void): void {
    this.#onClosed.push(callback)
  }

  onFrame(tag: number, bytes: Buffer): void {
    switch (kindOf(tag)) {
      case fromClient.bytes:
        return this.#receive(bytes)
      case fromClient.acknowledged:
        return this.#onAcknowledged(countOf(bytes))
      case fromClient.ended:
        return this.#handlers?.ended?.()
      case fromClient.finished:
        return this.#handlers?.finished?.()
      case fromClient.closed:
        return this.onSocketClosed()
    }
  }

  /** The client has disconnected. */
  onSocketClosed(): void {
    this.#isClosed = true
    this.#handlers?.closed()
    for (const callback of this.#onClosed) callback()
  }

  write(chunks: readonly Chunk[]): boolean {
    if (this.#isClosed) return true
    for (const chunk of chunks) {
      this.#chunks.push(chunk)
      this.#size += chunk.length
      this.#written += chunk.length
    }
    if (this.#size > frameBytesMax) this.#send()
    else if (!this.#isPlanned) {
      this.#isPlanned = true
      this.#link.flushAfterCallback(this)
    }
    if (this.#unacknowledged + this.#size > windowBytes) this.#isBehind = true
    return !this.#isBehind
  }

  /** Called after the callback. */
  flush(): void {
    this.#isPlanned = false
    this.#send()
  }

  pause(): void {
    if (this.#isPaused) return
    this.#isPaused = true
    this.#sendKind(toClient.pause)
  }

  resume(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    this.#sendKind(toClient.resume)
  }

  end(): void {
    this.#send()
    this.#sendKind(toClient.end)
  }

  destroy(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#chunks = []
    this.#size = 0
    this.#sendKind(toClient.destroy)
  }

  detach(rest: Uint8Array): ReturnType<Http1Socket['detach']> {
    const stream = this.stream()
    if (rest.length > 0) stream.unshift(rest)
    return byteStreamOn(stream)
  }

  /** The socket as a stream of Node.js (see duplexOn). */
  stream(turns?: FairTurns<StreamSocket>): Duplex {
    this.#send()
    return duplexOn(this, turns)
  }

  #onAcknowledged(bytes: number): void {
    this.#unacknowledged -= bytes
    if (!this.#isBehind || this.#unacknowledged > windowBytes / 2) return
    this.#isBehind = false
    this.#handlers?.drained()
  }

  #receive(bytes: Buffer): void {
    const size = bytes.length
    if (this.#handlers?.receive(bytes) !== false) releaseBytes(bytes)
    this.#reportTaken(size)
  }

  #reportTaken(bytes: number): void {
    this.#taken += bytes
    if (this.#taken < takenBytesMin || this.#isClosed) return
    const count = uint32(this.#taken)
    this.#taken = 0
    this.#link.send(tagOf(toClient.taken, this.#id), [count], count.length)
  }

  #send(): void {
    const chunks = this.#chunks
    const size = this.#size
    if (size === 0) return
    this.#chunks = []
    this.#size = 0
    this.#unacknowledged += size
    this.#link.send(tagOf(toClient.bytes, this.#id), chunks, size)
  }

  #sendKind(kind: number): void {
    this.#link.send(tagOf(kind, this.#id))
  }
}
