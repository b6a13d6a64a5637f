// ThreadConnection: the TLS thread's side of one connection.
import type { Duplex } from 'node:stream'
import type { Link } from './link.ts'
import {
  acknowledgeBytesMin,
  countOf,
  fromClient,
  kindOf,
  tagOf,
  toClient,
  uint32,
  untakenBytesMax,
  type OpenedPeer,
} from './protocol.ts'

/** So much is handed to the socket at a time, so that a slow client is noticed during a long response. */
const portionBytesMax = 256 << 10

export class ThreadConnection {
  readonly #socket: Duplex
  readonly #id: number
  readonly #link: Link
  /** Connections that are not read while the link is full. */
  readonly #held: Set<ThreadConnection>
  /** What the socket has no room for. */
  #queue: Buffer[] = []
  /** Handed to the socket, and not yet reported as taken by the client. */
  #unacknowledged = 0
  #isBehind = false
  #isEnding = false
  /** The event loop reads no more for now. */
  #isPaused = false
  /** Read, and not yet taken by the event loop. */
  #untaken = 0
  /** Nothing is read, because too much is not taken. */
  #isAhead = false

  constructor(socket: Duplex, id: number, link: Link, held: Set<ThreadConnection>) {
    this.#socket = socket
    this.#id = id
    this.#link = link
    this.#held = held
  }

  open(peer: OpenedPeer): void {
    const socket = this.#socket
    // A client of HTTP/1.1 may end its side after its last request (see Http1Connection).
    socket.allowHalfOpen = !peer.isHttp2
    this.#send(fromClient.opened, Buffer.from(JSON.stringify(peer)))
    socket.on('data', (piece: Buffer) => {
      this.#send(fromClient.bytes, piece)
      this.#untaken += piece.length
      if (this.#untaken > untakenBytesMax) this.#isAhead = true
      if (this.#link.isFull) this.#held.add(this)
      if (!this.#mayRead) socket.pause()
    })
    socket.on('drain', () => {
      this.#isBehind = false
      this.#acknowledge()
      this.#writeQueued()
    })
    socket.on('end', () => this.#send(fromClient.ended))
    socket.on('finish', () => {
      this.#acknowledge()
      this.#send(fromClient.finished)
    })
    socket.on('error', () => {}) // `close` follows
    socket.on('close', () => this.#send(fromClient.closed))
  }

  onFrame(tag: number, bytes: Buffer): void {
    const socket = this.#socket
    switch (kindOf(tag)) {
      case toClient.bytes:
        return this.#write(bytes)
      case toClient.end:
        this.#isEnding = true
        return this.#endBehindQueue()
      case toClient.destroy:
        return void socket.destroy()
      case toClient.pause:
        this.#isPaused = true
        return void socket.pause()
      case toClient.resume:
        this.#isPaused = false
        return this.#resume()
      case toClient.taken:
        this.#untaken -= countOf(bytes)
        if (!this.#isAhead || this.#untaken > untakenBytesMax / 2) return
        this.#isAhead = false
        this.#resume()
    }
  }

  /** The link has room again for what the client sends. */
  release(): void {
    this.#held.delete(this)
    this.#resume()
  }

  get #mayRead(): boolean {
    return !this.#isPaused && !this.#isAhead && !this.#held.has(this)
  }

  #resume(): void {
    if (this.#mayRead) this.#socket.resume()
  }

  /** Called each second: reports what the client has taken, however little it is. */
  tick(): void {
    if (this.#unacknowledged > 0 && this.#socket.writableLength === 0) this.#acknowledge()
  }

  #write(bytes: Buffer): void {
    if (!this.#socket.writable) this.#unacknowledged += bytes.length
    else {
      this.#queue.push(bytes)
      this.#writeQueued()
    }
  }

  /** Frames are shorter than a portion, so that each is written whole. */
  #writeQueued(): void {
    if (this.#isBehind || this.#queue.length === 0) return
    let size = 0
    if (this.#queue.length > 1) this.#socket.cork()
    while (size < portionBytesMax) {
      const bytes = this.#queue.shift()
      if (bytes === undefined) break
      size += bytes.length
      if (!this.#socket.write(bytes)) this.#isBehind = true
    }
    this.#socket.uncork()
    this.#unacknowledged += size
    if (this.#unacknowledged >= acknowledgeBytesMin && !this.#isBehind) this.#acknowledge()
    this.#endBehindQueue()
  }

  #endBehindQueue(): void {
    if (this.#isEnding && this.#queue.length === 0) this.#socket.end()
  }

  #acknowledge(): void {
    if (this.#unacknowledged === 0) return
    const count = uint32(this.#unacknowledged)
    this.#unacknowledged = 0
    this.#send(fromClient.acknowledged, count)
  }

  #send(kind: number, bytes?: Buffer): void {
    const tag = tagOf(kind, this.#id)
    if (bytes === undefined) this.#link.send(tag)
    else this.#link.send(tag, [bytes], bytes.length)
  }
}
