// DbusConnection: a connection to a message bus: method calls, and the signals that were subscribed to.
import { unlessAborted } from '../../base/async/unless-aborted.ts'
import type { ByteStream } from '../../platform/http/byte-stream.ts'
import { decodeMessage, encodeMessage, messageBytes, type DbusMessage, type DbusValue } from './dbus-message.ts'

export interface DbusCall {
  readonly destination: string
  readonly path: string
  readonly interface: string
  readonly member: string
  readonly signature?: string
  readonly body?: readonly DbusValue[]
}

const bus = {
  destination: 'org.freedesktop.DBus',
  path: '/org/freedesktop/DBus',
  interface: 'org.freedesktop.DBus',
} as const

export class DbusError extends Error {
  override name = 'DbusError'
}

export class DbusConnection {
  readonly #stream: ByteStream
  readonly #onSignal: (signal: DbusMessage) => void
  readonly #pendingCalls = new Map<number, PromiseWithResolvers<readonly DbusValue[]>>()
  #serial = 0
  /** Resolves when the connection has ended. */
  readonly closed: Promise<void>

  private constructor(stream: ByteStream, pieces: AsyncIterator<Uint8Array>, onSignal: (signal: DbusMessage) => void) {
    this.#stream = stream
    this.#onSignal = onSignal
    this.closed = this.#listen(pieces)
  }

  /** Authenticates with the user id, which the kernel confirms, and says Hello to the bus. */
  static async open(
    stream: ByteStream,
    uid: number,
    onSignal: (signal: DbusMessage) => void,
    signal: AbortSignal,
  ): Promise<DbusConnection> {
    const pieces = stream.pieces[Symbol.asyncIterator]()
    const id = new TextEncoder().encode(String(uid)).toHex()
    await stream.write(new TextEncoder().encode(`\0AUTH EXTERNAL ${id}\r\n`))
    let line = ''
    while (!line.endsWith('\r\n')) {
      const { value, done } = await unlessAborted(pieces.next(), signal)
      if (done === true) throw new DbusError('the connection to the message bus ended')
      line += new TextDecoder().decode(value)
    }
    if (!line.startsWith('OK ')) throw new DbusError(`the message bus rejected the authentication: ${line.trim()}`)
    await stream.write(new TextEncoder().encode('BEGIN\r\n'))
    const connection = new DbusConnection(stream, pieces, onSignal)
    await connection.call({ ...bus, member: 'Hello' }, signal)
    return connection
  }

  /** Rejects with DbusError when the call fails or its destination does not exist. */
  async call(call: DbusCall, signal: AbortSignal): Promise<readonly DbusValue[]> {
    const serial = ++this.#serial
    const reply = Promise.withResolvers<readonly DbusValue[]>()
    this.#pendingCalls.set(serial, reply)
    try {
      await this.#stream.write(encodeMessage({ kind: 'call', serial, body: [], ...call }))
      return await unlessAborted(reply.promise, signal)
    } finally {
      this.#pendingCalls.delete(serial)
    }
  }

  /** Subscribes to the signals that match the rule. */
  async addMatch(rule: string, signal: AbortSignal): Promise<void> {
    await this.call({ ...bus, member: 'AddMatch', signature: 's', body: [rule] }, signal)
  }

  close(): void {
    this.#stream.destroy()
  }

  async #listen(pieces: AsyncIterator<Uint8Array>): Promise<void> {
    let rest: Uint8Array = new Uint8Array()
    try {
      for (let next = await pieces.next(); next.done !== true; next = await pieces.next()) {
        rest = joined(rest, next.value)
        for (let size = messageBytes(rest); size !== undefined && size <= rest.length; size = messageBytes(rest)) {
          this.#take(decodeMessage(rest.subarray(0, size)))
          rest = rest.subarray(size)
        }
      }
    } catch {
      // However the connection ended, all calls are failed below.
    }
    this.#stream.destroy()
    for (const { reject } of this.#pendingCalls.values())
      reject(new DbusError('the connection to the message bus ended'))
  }

  #take(message: DbusMessage): void {
    if (message.kind === 'signal') return this.#onSignal(message)
    const reply = this.#pendingCalls.get(message.replyTo ?? 0)
    if (message.kind === 'answer') reply?.resolve(message.body)
    else if (message.kind === 'error')
      reply?.reject(new DbusError(`${message.errorName ?? ''}: ${String(message.body[0] ?? '')}`))
  }
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  if (a.length === 0) return b
  const both = new Uint8Array(a.length + b.length)
  both.set(a)
  both.set(b, a.length)
  return both
}
