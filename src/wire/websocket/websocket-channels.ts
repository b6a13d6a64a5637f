// WebSocketChannels: several streams on one WebSocket, as Kubernetes defines them: the first byte of a message is the
// channel. From v5 on a client can end one of its streams; before that all streams end with the connection.
import type { ByteStream } from '../../platform/http/byte-stream.ts'
import { BytePipe } from '../byte-pipe.ts'
import type { WebSocketConnection } from './websocket-connection.ts'

/** How the bytes of a channel are encoded: unchanged, or as base64 text after the digit of the channel. */
export type ChannelEncoding = 'binary' | 'base64'

const closeSignal = 255
const channelBytesMax = 1024 * 1024
/** Base64 adds a third, and a text message is not split. */
const textBytesMax = 24 * 1024

export class WebSocketChannels {
  readonly #connection: WebSocketConnection
  readonly #encoding: ChannelEncoding
  readonly #incoming = new Map<number, BytePipe>()

  constructor(connection: WebSocketConnection, encoding: ChannelEncoding) {
    this.#connection = connection
    this.#encoding = encoding
  }

  /** Reads until the client ends. Messages on unknown channels are dropped. */
  async run(): Promise<void> {
    try {
      for await (const { bytes } of this.#connection.messages()) {
        const { channel, payload } = this.#decode(bytes)
        if (channel === closeSignal) this.#incoming.get(payload[0] ?? closeSignal)?.end()
        else await this.#incoming.get(channel)?.write(payload)
      }
    } finally {
      for (const pipe of this.#incoming.values()) pipe.end()
    }
  }

  /** Call before `run`. Ending a channel sends nothing: the client learns of it when the connection ends. */
  channel(index: number): ByteStream {
    const incoming = new BytePipe(channelBytesMax)
    this.#incoming.set(index, incoming)
    let isEnded = false
    return {
      pieces: incoming.read(),
      write: async (piece) => {
        if (isEnded) throw new Error('the channel has ended')
        await this.#send(index, piece)
      },
      end: () => void (isEnded = true),
      destroy() {
        isEnded = true
        incoming.abandon()
      },
    }
  }

  close(): Promise<void> {
    return this.#connection.close()
  }

  #decode(bytes: Uint8Array): { channel: number; payload: Uint8Array } {
    const [first = closeSignal] = bytes
    if (this.#encoding === 'binary') return { channel: first, payload: bytes.subarray(1) }
    const payload = Uint8Array.fromBase64(new TextDecoder().decode(bytes.subarray(1)))
    return { channel: first - zero, payload }
  }

  async #send(channel: number, piece: Uint8Array): Promise<void> {
    if (this.#encoding === 'binary') return this.#connection.sendBinary(piece, Uint8Array.of(channel))
    let at = 0
    do {
      await this.#connection.sendText(`${channel}${piece.subarray(at, at + textBytesMax).toBase64()}`)
      at += textBytesMax
    } while (at < piece.length)
  }
}

const zero = '0'.charCodeAt(0)
