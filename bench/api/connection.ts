// Connection: HTTP/1.1 over one TLS socket with prepared requests and hardly any parsing: the load must cost less than
// what it measures, because both share the machine.
import { once } from 'node:events'
import { connect, type TLSSocket } from 'node:tls'

export interface Access {
  readonly host: string
  readonly port: number
  readonly ca: string
  readonly cert: string
  readonly key: string
}

const headEnd = Buffer.from('\r\n\r\n')
const chunkedEnd = Buffer.from('0\r\n\r\n')

export interface Received {
  readonly status: number
  readonly bytes: number
}

export class Connection {
  readonly #socket: TLSSocket
  #waiting: PromiseWithResolvers<Received> | undefined
  #head: Buffer = Buffer.alloc(0)
  #status = 0
  /** What is still to come of a body of known length; undefined while the head is read. */
  #left: number | undefined
  #tail: Buffer | undefined
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
    socket.on('error', (error) => this.#waiting?.reject(error))
    socket.on('close', () => this.#waiting?.reject(new Error('the server closed the connection')))
  }

  /** One request at a time. */
  send(request: string | Buffer): Promise<Received> {
    if (this.#socket.destroyed) return Promise.reject(new Error('the server closed the connection'))
    this.#waiting = Promise.withResolvers()
    this.#bytes = 0
    this.#socket.write(request)
    return this.#waiting.promise
  }

  close(): void {
    this.#socket.destroy()
  }

  #take(piece: Buffer): void {
    let body = piece
    if (this.#left === undefined && this.#tail === undefined) {
      const head = this.#head.length === 0 ? piece : Buffer.concat([this.#head, piece])
      const end = head.indexOf(headEnd)
      if (end < 0) {
        this.#head = head
        return
      }
      const text = head.toString('latin1', 0, end)
      this.#status = Number(text.slice(9, 12))
      const length = /content-length: (\d+)/i.exec(text)?.[1]
      if (length === undefined) this.#tail = Buffer.alloc(0)
      else this.#left = Number(length)
      this.#head = Buffer.alloc(0)
      body = head.subarray(end + 4)
    }
    this.#bytes += body.length
    if (this.#left !== undefined) {
      this.#left -= body.length
      if (this.#left <= 0) this.#finish()
      return
    }
    const tail = Buffer.concat([this.#tail ?? Buffer.alloc(0), body.subarray(-chunkedEnd.length)])
    this.#tail = tail.subarray(-chunkedEnd.length)
    if (this.#tail.equals(chunkedEnd)) this.#finish()
  }

  #finish(): void {
    this.#left = undefined
    this.#tail = undefined
    const waiting = this.#waiting
    this.#waiting = undefined
    waiting?.resolve({ status: this.#status, bytes: this.#bytes })
  }
}

export function requestText(method: string, path: string, body?: object, type = 'application/json'): Buffer {
  const payload = body === undefined ? '' : JSON.stringify(body)
  const more = body === undefined ? '' : `content-type: ${type}\r\ncontent-length: ${Buffer.byteLength(payload)}\r\n`
  return Buffer.from(`${method} ${path} HTTP/1.1\r\nhost: x\r\naccept: application/json\r\n${more}\r\n${payload}`)
}
