// ThreadConnection: the thread's side of one connection.
import type { Duplex } from 'node:stream'
import type { Link } from './link.ts'
import { fromClient, kindOf, tagOf, takenBytesMin, toClient, type OpenedPeer } from './protocol.ts'

export class ThreadConnection {
  readonly #socket: Duplex
  readonly #number: number
  readonly #link: Link
  /** Where it waits while the link is full. */
  readonly #held: Set<ThreadConnection>
  /** Taken by the client, and not told yet. */
  #taken = 0
  #isBehind = false
  /** The door wants no more for now. */
  #isPaused = false

  constructor(socket: Duplex, number: number, link: Link, held: Set<ThreadConnection>) {
    this.#socket = socket
    this.#number = number
    this.#link = link
    this.#held = held
  }

  open(peer: OpenedPeer): void {
    const socket = this.#socket
    this.#tell(fromClient.opened, Buffer.from(JSON.stringify(peer)))
    socket.on('data', (piece: Buffer) => {
      this.#tell(fromClient.bytes, piece)
      if (!this.#link.isFull) return
      socket.pause()
      this.#held.add(this)
    })
    socket.on('drain', () => {
      this.#isBehind = false
      this.#tellTaken()
    })
    socket.on('end', () => this.#tell(fromClient.ended))
    socket.on('finish', () => this.#tell(fromClient.finished))
    socket.on('error', () => {}) // `close` follows
    socket.on('close', () => this.#tell(fromClient.closed))
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
  look(): void {
    if (this.#taken > 0 && this.#socket.writableLength === 0) this.#tellTaken()
  }

  #write(bytes: Buffer): void {
    this.#taken += bytes.length
    // A client that has ended its side is taken for gone.
    if (!this.#socket.writable) return
    if (!this.#socket.write(bytes)) this.#isBehind = true
    if (this.#taken >= takenBytesMin && !this.#isBehind) this.#tellTaken()
  }

  #tellTaken(): void {
    const count = Buffer.allocUnsafe(4)
    count.writeUInt32LE(this.#taken)
    this.#taken = 0
    this.#tell(fromClient.taken, count)
  }

  #tell(kind: number, bytes?: Buffer): void {
    const tag = tagOf(kind, this.#number)
    if (bytes === undefined) this.#link.send(tag)
    else this.#link.send(tag, [bytes], bytes.length)
  }
}
