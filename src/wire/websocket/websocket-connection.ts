// WebSocketConnection: messages on a connection after the handshake. Pings are answered, closes are returned.
import type { ByteStream } from '../../platform/http/byte-stream.ts'
import { closeCodes, encodeMessage, WebSocketError, WebSocketReader, type WebSocketMessage } from './websocket-frame.ts'

/** Longer pieces are sent as several messages, so that the other side need not hold them whole. */
const messageBytesMax = 32 * 1024

export class WebSocketConnection {
  readonly #socket: ByteStream
  readonly #newMask: (() => Uint8Array) | undefined
  #isClosing = false

  /** A client brings masks: four bytes of chance for each message. */
  constructor(socket: ByteStream, newMask?: () => Uint8Array) {
    this.#socket = socket
    this.#newMask = newMask
  }

  /** The messages of the other side until it closes. To be read once, and to its end. */
  async *messages(): AsyncGenerator<Extract<WebSocketMessage, { bytes: Uint8Array }>, void> {
    const reader = new WebSocketReader(this.#newMask === undefined ? 'client' : 'server')
    let isClosed = false
    let failure: WebSocketError | undefined
    try {
      // Read to the end also after a close: leaving early would cut the connection before our own close has left.
      for await (const piece of this.#socket.pieces) {
        if (isClosed) continue
        try {
          for (const message of reader.push(piece))
            if (message.kind === 'ping') await this.#send({ kind: 'pong', bytes: message.bytes }).catch(() => {})
            else if (message.kind === 'close') {
              isClosed = true
              await this.close(message.code)
            } else if (message.kind !== 'pong') yield message
        } catch (error) {
          if (!(error instanceof WebSocketError)) throw error
          failure = error
          isClosed = true
          await this.close(error.code, error.message)
        }
      }
    } finally {
      this.#socket.end()
    }
    if (failure !== undefined) throw failure
  }

  /** `prefix` stands before each message's part of the bytes. */
  async sendBinary(bytes: Uint8Array, prefix: Uint8Array = new Uint8Array()): Promise<void> {
    let at = 0
    do {
      const part = bytes.subarray(at, at + messageBytesMax)
      const message = new Uint8Array(prefix.length + part.length)
      message.set(prefix)
      message.set(part, prefix.length)
      await this.#send({ kind: 'binary', bytes: message })
      at += messageBytesMax
    } while (at < bytes.length)
  }

  sendText(text: string): Promise<void> {
    return this.#send({ kind: 'text', bytes: new TextEncoder().encode(text) })
  }

  /** Says goodbye once; the connection ends when it is written. */
  async close(code: number = closeCodes.normal, reason = ''): Promise<void> {
    if (this.#isClosing) return
    this.#isClosing = true
    await this.#socket.write(encodeMessage({ kind: 'close', code, reason }, this.#newMask?.())).catch(() => {})
    this.#socket.end()
  }

  /** Gives the connection up without a word. */
  destroy(): void {
    this.#isClosing = true
    this.#socket.destroy()
  }

  async #send(message: WebSocketMessage): Promise<void> {
    if (this.#isClosing) throw new WebSocketError(closeCodes.normal, 'the connection is being closed')
    await this.#socket.write(encodeMessage(message, this.#newMask?.()))
  }
}

/** Bytes in messages: a protocol of streams tunnelled through a protocol of messages. */
export const webSocketTunnel = (connection: WebSocketConnection): ByteStream => ({
  pieces: payloads(connection),
  write: (piece) => connection.sendBinary(piece),
  end: () => void connection.close(),
  destroy: () => connection.destroy(),
})

async function* payloads(connection: WebSocketConnection): AsyncGenerator<Uint8Array, void> {
  for await (const { bytes } of connection.messages()) yield bytes
}
