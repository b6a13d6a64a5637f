// Connection: HTTP/1.1 over one TLS socket with prepared requests and minimal parsing. The load must cost less than
// what it measures, because both share the machine.
import { once } from 'node:events'
import { connect, type TLSSocket } from 'node:tls'
import type { Access } from '../../test/access.ts'

const headEnd = Buffer.from('\r\n\r\n')
const chunkedEnd = Buffer.from('0\r\n\r\n')
const nothing = Buffer.alloc(0)

export interface Received {
  readonly status: number
  readonly bytes: number
}

type Answered = (status: number, bytes: number) => void

export class Connection {
  readonly #socket: TLSSocket
  #answered: Answered | undefined
  #failed: (error: Error) => void = () => {}
  #head: Buffer | undefined
  #status = 0
  /** Remaining bytes of a body of known length; -1 while the head is read, Infinity for a chunked body. */
  #left = -1
  #tail: Buffer = nothing
  #bytes = 0

  static async open({ host, port, ca, cert, key }: Access): Promise<Connection> {
    const socket = connect({ host, port, ca, cert, key, checkServerIdentity: () => undefined })
    await once(socket, 'secureConnect')
    return new Connection(socket)
  }

  private constructor(socket: TLSSocket) {
    this.#socket = socket
    socket.setNoDelay(true)
    socket.on('data', (piece: Buffer) => this.#take(piece))
    socket.on('error', (error) => this.#failed(error))
    socket.on('close', () => this.#failed(new Error('the server closed the connection')))
  }

  /** Sends one request; the next one may be sent after the response. */
  send(request: string | Buffer): Promise<Received> {
    return new Promise((resolve, reject) =>
      this.exchange(request, (status, bytes) => resolve({ status, bytes }), reject),
    )
  }

  /** As `send`, with callbacks: a promise costs as much as the framing. */
  exchange(request: string | Buffer, answered: Answered, failed: (error: Error) => void): void {
    this.#answered = answered
    this.#failed = failed
    this.#bytes = 0
    if (this.#socket.destroyed) return failed(new Error('the server closed the connection'))
    this.#socket.write(request)
  }

  close(): void {
    this.#failed = () => {}
    this.#socket.destroy()
  }

  #take(piece: Buffer): void {
    if (this.#left >= 0) return this.#takeBody(piece)
    const head = this.#head === undefined ? piece : Buffer.concat([this.#head, piece])
    const end = head.indexOf(headEnd)
    if (end < 0) {
      this.#head = head
      return
    }
    this.#head = undefined
    const text = head.toString('latin1', 0, end)
    this.#status = Number(text.slice(9, 12))
    this.#left = lengthIn(text)
    this.#takeBody(head.subarray(end + 4))
  }

  #takeBody(body: Buffer): void {
    this.#bytes += body.length
    if (this.#left !== Infinity) {
      this.#left -= body.length
      if (this.#left <= 0) this.#finish()
      return
    }
    const tail = body.length >= chunkedEnd.length ? body : Buffer.concat([this.#tail, body])
    this.#tail = tail.subarray(-chunkedEnd.length)
    if (this.#tail.equals(chunkedEnd)) this.#finish()
  }

  #finish(): void {
    this.#left = -1
    this.#tail = nothing
    this.#answered?.(this.#status, this.#bytes)
  }
}

const lengthHeader = '\r\ncontent-length: '

function lengthIn(head: string): number {
  const ours = head.indexOf(lengthHeader)
  const at = ours < 0 ? head.toLowerCase().indexOf(lengthHeader) : ours
  return at < 0 ? Infinity : Number.parseInt(head.slice(at + lengthHeader.length, at + lengthHeader.length + 12), 10)
}

export function requestText(
  method: string,
  path: string,
  body?: object,
  type = 'application/json',
  accept = 'application/json',
): Buffer {
  const payload = body === undefined ? '' : JSON.stringify(body)
  const more = body === undefined ? '' : `content-type: ${type}\r\ncontent-length: ${Buffer.byteLength(payload)}\r\n`
  return Buffer.from(`${method} ${path} HTTP/1.1\r\nhost: x\r\naccept: ${accept}\r\n${more}\r\n${payload}`)
}
