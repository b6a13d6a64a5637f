// LinkedSocket: the event loop's side of a connection whose TLS is spoken by the thread.
import type { Duplex } from 'node:stream'
import type { Http1Socket } from '../../http1/connection.ts'
import { byteStreamOn } from '../byte-stream.ts'
import type { Part } from './byte-ring.ts'
import { frameBytesMax, type Link, type Sender } from './link.ts'
import { streamOn, type SocketUser, type StreamSocket } from './linked-stream.ts'
import { fromClient, kindOf, tagOf, toClient, windowBytes } from './protocol.ts'

export class LinkedSocket implements Http1Socket, StreamSocket, Sender {
  readonly #link: Link
  readonly #number: number
  readonly #onClosed: (() => void)[] = []
  #user: SocketUser | undefined
  #parts: Part[] = []
  #size = 0
  #isPlanned = false
  /** Sent, and not known to be taken. */
  #underWay = 0
  #isBehind = false
  #isPaused = false
  #isOver = false

  constructor(link: Link, number: number) {
    this.#link = link
    this.#number = number
  }

  get isOver(): boolean {
    return this.#isOver
  }

  get unsentBytes(): number {
    return this.#underWay + this.#size
  }

  use(user: SocketUser): void {
    this.#user = user
  }

  onClosed(callback: () => void): void {
    this.#onClosed.push(callback)
  }

  onFrame(tag: number, bytes: Buffer): void {
    switch (kindOf(tag)) {
      case fromClient.bytes:
        return this.#user?.receive(bytes)
      case fromClient.taken:
        return this.#takenBy(bytes.readUInt32LE())
      case fromClient.ended:
        return this.#user?.ended?.()
      case fromClient.finished:
        return this.#user?.finished?.()
      case fromClient.closed:
        return this.cut()
    }
  }

  /** The client is gone. */
  cut(): void {
    this.#isOver = true
    this.#user?.closed()
    for (const callback of this.#onClosed) callback()
  }

  write(parts: readonly Part[]): boolean {
    if (this.#isOver) return true
    for (const part of parts) {
      this.#parts.push(part)
      this.#size += part.length
    }
    if (this.#size > frameBytesMax) this.#send()
    else if (!this.#isPlanned) {
      this.#isPlanned = true
      this.#link.plan(this)
    }
    if (this.#underWay + this.#size > windowBytes) this.#isBehind = true
    return !this.#isBehind
  }

  /** Called at the end of the turn. */
  leave(): void {
    this.#isPlanned = false
    this.#send()
  }

  pause(): void {
    if (this.#isPaused) return
    this.#isPaused = true
    this.#tell(toClient.pause)
  }

  resume(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    this.#tell(toClient.resume)
  }

  end(): void {
    this.#send()
    this.#tell(toClient.end)
  }

  destroy(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#parts = []
    this.#size = 0
    this.#tell(toClient.destroy)
  }

  handOver(rest: Uint8Array): ReturnType<Http1Socket['handOver']> {
    const stream = this.stream()
    if (rest.length > 0) stream.unshift(rest)
    return byteStreamOn(stream)
  }

  /** As Node.js knows streams. */
  stream(): Duplex {
    this.#send()
    return streamOn(this)
  }

  #takenBy(bytes: number): void {
    this.#underWay -= bytes
    if (!this.#isBehind || this.#underWay > windowBytes / 2) return
    this.#isBehind = false
    this.#user?.drained()
  }

  #send(): void {
    const [parts, size] = [this.#parts, this.#size]
    if (size === 0) return
    this.#parts = []
    this.#size = 0
    this.#underWay += size
    this.#link.send(tagOf(toClient.bytes, this.#number), parts, size)
  }

  #tell(kind: number): void {
    this.#link.send(tagOf(kind, this.#number))
  }
}
