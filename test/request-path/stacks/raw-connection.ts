// RawConnection: a TLS connection on which a test decides about every byte, and the responses in their order.
import { once } from 'node:events'
import { connect, type TLSSocket } from 'node:tls'
import type { Access } from '../../access.ts'
import type { Exchange } from './exchange.ts'

export const requestBytes = ({ method, path, contentType, body }: Exchange): Buffer => {
  const framing = body === '' ? '' : `Content-Type: ${contentType}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`
  return Buffer.from(`${method} ${path} HTTP/1.1\r\nHost: localhost\r\n${framing}\r\n${body}`)
}

interface Waiting {
  readonly exchange: Exchange
  resolve(): void
  reject(error: unknown): void
}

const headEnd = '\r\n\r\n'

export class RawConnection {
  readonly socket: TLSSocket
  readonly #waiting: Waiting[] = []
  #received = Buffer.alloc(0)
  /** Bytes that must have arrived before the next response can be complete. */
  #needed = 0

  private constructor(socket: TLSSocket) {
    this.socket = socket
    socket.on('data', (piece: Buffer) => {
      this.#received = Buffer.concat([this.#received, piece])
      this.#takeResponses()
    })
    socket.on('error', (error) => this.#fail(error))
    socket.on('end', () => this.#fail(new Error('the server ended the connection before the end of the response')))
  }

  static async open({ host, port, ca, cert, key }: Access): Promise<RawConnection> {
    const socket = connect({ host, port, ca, cert, key })
    await once(socket, 'secureConnect')
    socket.setNoDelay(true)
    return new RawConnection(socket)
  }

  /**
   * Sends the bytes of the exchanges; resolves after their responses, which follow those of earlier calls. Each piece is a TLS
   * record of its own.
   */
  async exchange(exchanges: readonly Exchange[], pieces: readonly Uint8Array[]): Promise<void> {
    const responses = exchanges.map(
      (exchange) => new Promise<void>((resolve, reject) => this.#waiting.push({ exchange, resolve, reject })),
    )
    for (const piece of pieces) this.socket.write(piece)
    await Promise.all(responses)
  }

  close(): void {
    this.socket.destroy()
  }

  #takeResponses(): void {
    while (this.#received.length > 0 && this.#received.length >= this.#needed) {
      const head = this.#received.indexOf(headEnd)
      if (head < 0) return
      const text = this.#received.toString('latin1', 0, head)
      const length = /^content-length: (\d+)$/im.exec(text)?.[1]
      const waiting = this.#waiting[0]
      if (waiting === undefined || length === undefined)
        return void this.socket.destroy(new Error(`a response that was not expected: ${text}`))
      this.#needed = head + headEnd.length + Number(length)
      if (this.#received.length < this.#needed) return
      const body = this.#received.toString('utf8', head + headEnd.length, this.#needed)
      this.#received = this.#received.subarray(this.#needed)
      this.#needed = 0
      this.#waiting.shift()
      try {
        waiting.exchange.check(Number(text.split(' ', 2)[1]), body)
        waiting.resolve()
      } catch (error) {
        waiting.reject(error)
      }
    }
  }

  #fail(error: Error): void {
    for (const { reject } of this.#waiting.splice(0)) reject(error)
  }
}
