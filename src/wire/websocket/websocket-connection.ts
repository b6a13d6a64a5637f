// WebSocketConnection: messages on a connection after the handshake. It replies to pings and to close frames.
import type { ByteStream } from '../../platform/http/byte-stream.ts'
import { closeCodes, encodeMessage, WebSocketError, type WebSocketMessage } from './websocket-frame.ts'
import { WebSocketReader } from './websocket-reader.ts'

/** Longer payloads are sent as several messages, so that the peer need not buffer them. */
const messageBytesMax = 32 * 1024

export class WebSocketConnection {
  readonly #socket: ByteStream
  readonly #newMask: (() => Uint8Array) | undefined
  #isClosing = false

  /** A client passes `newMask`, which returns four random bytes for each message. */
  constructor(socket: ByteStream, newMask?: () => Uint8Array) {
    this.#socket = socket
    this.#newMask = newMask
  }

  /** The messages of the peer until it closes. Iterate once, and to the end. */
  async *messages(): AsyncGenerator<Extract<WebSocketMessage, { bytes: Uint8Array }>, void> {
    const reader = new WebSocketReader(this.#newMask === undefined ? 'client' : 'server')
    let isClosed = false
    let failure: WebSocketError | undefined
    try {
      // After a close the rest is read and dropped: leaving the loop would cut the connection before our close frame is sent.
      for await (const piece of this.#socket.pieces) {
        if (isClosed) continue
        try {
          for (const message of reader.push(piece)) {
            if (message.kind === 'ping') await this.#send({ kind: 'pong', bytes: message.bytes }).catch(() => {})
            else if (message.kind === 'close') {
              isClosed = true
              await this.close(message.code)
              break
            } else if (message.kind !== 'pong') yield message
          }
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

  /** `prefix` is put before the bytes of each message. */
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

  /** Sends a close frame, once, and ends the connection after it. */
  async close(code: number = closeCodes.normal, reason = ''): Promise<void> {
    if (this.#isClosing) return
    this.#isClosing = true
    await this.#socket.write(encodeMessage({ kind: 'close', code, reason }, this.#newMask?.())).catch(() => {})
    this.#socket.end()
  }

  /** Ends the connection without a close frame. */
  destroy(): void {
    this.#isClosing = true
    this.#socket.destroy()
  }

  async #send(message: WebSocketMessage): Promise<void> {
    if (this.#isClosing) throw new WebSocketError(closeCodes.normal, 'the connection is being closed')
    await this.#socket.write(encodeMessage(message, this.#newMask?.()))
  }
}

/** A byte stream in binary messages, such as SPDY tunnelled through a WebSocket. */
export const webSocketTunnel = (connection: WebSocketConnection): ByteStream => ({
  pieces: payloads(connection),
  write: (piece) => connection.sendBinary(piece),
  end: () => void connection.close(),
  destroy: () => connection.destroy(),
})

async function* payloads(connection: WebSocketConnection): AsyncGenerator<Uint8Array, void> {
  for await (const { bytes } of connection.messages()) yield bytes
}
