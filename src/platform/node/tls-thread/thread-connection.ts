// ThreadConnection: the thread's side of one connection.
import type { Duplex } from 'node:stream'
import type { Link } from './link.ts'
import { fromClient, kindOf, tagOf, acknowledgeBytesMin, toClient, type OpenedPeer } from './protocol.ts'

export class ThreadConnection {
  readonly #socket: Duplex
  readonly #id: number
  readonly #link: Link
  /** Where it waits while the link is full. */
  readonly #held: Set<ThreadConnection>
  /** Taken by the client, and not told yet. */
  #unacknowledged = 0
  #isBehind = false
  /** The door wants no more for now. */
  #isPaused = false

  constructor(socket: Duplex, number: number, link: Link, held: Set<ThreadConnection>) {
    this.#socket = socket
    this.#id = number
    this.#link = link
    this.#held = held
  }

  open(peer: OpenedPeer): void {
    const socket = this.#socket
    this.#send(fromClient.opened, Buffer.from(JSON.stringify(peer)))
    socket.on('data', (piece: Buffer) => {
      this.#send(fromClient.bytes, piece)
      if (!this.#link.isFull) return
      socket.pause()
      this.#held.add(this)
    })
    socket.on('drain', () => {
      this.#isBehind = false
      this.#acknowledge()
    })
    socket.on('end', () => this.#send(fromClient.ended))
    socket.on('finish', () => this.#send(fromClient.finished))
    socket.on('error', () => {}) // `close` follows
    socket.on('close', () => this.#send(fromClient.closed))
  }

  onFrame(tag: number, bytes: Buffer): void {
    const socket = this.#socket
    switch (kindOf(tag)) {
      case toClient.bytes:
        return this.#write(bytes)
      case toClient.end:
        return void socket.end()
      case toClient.destroy:
        return void socket.destroy()
      case toClient.pause:
        this.#isPaused = true
        return void socket.pause()
      case toClient.resume:
        this.#isPaused = false
        if (!this.#held.has(this)) socket.resume()
    }
  }

  /** There is room again for what the client says. */
  release(): void {
    if (!this.#isPaused) this.#socket.resume()
  }

  /** Called each second: what the client has taken is told, however little it is. */
  tick(): void {
    if (this.#unacknowledged > 0 && this.#socket.writableLength === 0) this.#acknowledge()
  }

  #write(bytes: Buffer): void {
    this.#unacknowledged += bytes.length
    // A client that has ended its side is taken for gone.
    if (!this.#socket.writable) return
    if (!this.#socket.write(bytes)) this.#isBehind = true
    if (this.#unacknowledged >= acknowledgeBytesMin && !this.#isBehind) this.#acknowledge()
  }

  #acknowledge(): void {
    const count = Buffer.allocUnsafe(4)
    count.writeUInt32LE(this.#unacknowledged)
    this.#unacknowledged = 0
    this.#send(fromClient.acknowledged, count)
  }

  #send(kind: number, bytes?: Buffer): void {
    const tag = tagOf(kind, this.#id)
    if (bytes === undefined) this.#link.send(tag)
    else this.#link.send(tag, [bytes], bytes.length)
  }
}
