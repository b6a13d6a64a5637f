// WatchSession: many watches on one HTTP/2 connection, with hand-written framing: events are counted by their line ends
// and not parsed, because the watchers share the machine with the server.
import { once } from 'node:events'
import { connect, type TLSSocket } from 'node:tls'
import type { Access } from '../../test/access.ts'

const frames = { data: 0, headers: 1, reset: 3, settings: 4, ping: 6, goaway: 7, windowUpdate: 8 } as const
const frameHeadBytes = 9
const windowBytesMax = 0x7fffffff
const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
const lineEnd = 10

export class WatchSession {
  readonly #socket: TLSSocket
  readonly #onEvents: (events: number) => void
  readonly #answered = Promise.withResolvers<void>()
  readonly #wanted: number
  #answers = 0
  /** The start of a frame header that was cut off at the end of a chunk. */
  #head: Buffer = Buffer.alloc(0)
  #type = 0
  #left = 0

  /** Resolves when every watch has a response. */
  static async open(
    { host, port, ca, cert, key }: Access,
    path: string,
    watches: number,
    onEvents: (events: number) => void,
  ): Promise<WatchSession> {
    const options = { host, port, ca, cert, key, ALPNProtocols: ['h2'], checkServerIdentity: () => undefined }
    const socket = connect(options)
    await once(socket, 'secureConnect')
    const session = new WatchSession(socket, watches, onEvents)
    socket.write(preface, 'latin1')
    socket.write(frame(frames.settings, 0, 0, Buffer.concat([setting(2, 0), setting(4, windowBytesMax)])))
    socket.write(frame(frames.windowUpdate, 0, 0, uint32(windowBytesMax - 0xffff)))
    for (let index = 0; index < watches; index++)
      socket.write(frame(frames.headers, 0x5, 2 * index + 1, requestHeaders(`${host}:${port}`, path)))
    await session.#answered.promise
    return session
  }

  private constructor(socket: TLSSocket, watches: number, onEvents: (events: number) => void) {
    this.#socket = socket
    this.#wanted = watches
    this.#onEvents = onEvents
    socket.on('data', (piece: Buffer) => this.#take(piece))
    socket.on('error', this.#answered.reject)
  }

  close(): void {
    this.#socket.destroy()
  }

  #take(piece: Buffer): void {
    let events = 0
    let at = 0
    while (at < piece.length) {
      if (this.#left > 0) {
        const end = Math.min(at + this.#left, piece.length)
        if (this.#type === frames.data)
          for (
            let found = piece.indexOf(lineEnd, at);
            found >= 0 && found < end;
            found = piece.indexOf(lineEnd, found + 1)
          )
            events++
        this.#left -= end - at
        at = end
        continue
      }
      const missing = frameHeadBytes - this.#head.length
      this.#head =
        this.#head.length === 0
          ? piece.subarray(at, at + missing)
          : Buffer.concat([this.#head, piece.subarray(at, at + missing)])
      at += missing
      if (this.#head.length === frameHeadBytes) this.#begin(this.#head)
    }
    if (events > 0) this.#onEvents(events)
  }

  #begin(head: Buffer): void {
    this.#head = Buffer.alloc(0)
    this.#left = head.readUIntBE(0, 3)
    this.#type = head[3] ?? 0
    const isAck = ((head[4] ?? 0) & 1) !== 0
    if (this.#type === frames.settings && !isAck) this.#socket.write(frame(frames.settings, 1, 0, Buffer.alloc(0)))
    if (this.#type === frames.headers && ++this.#answers === this.#wanted) this.#answered.resolve()
    if (this.#type === frames.reset || this.#type === frames.goaway)
      this.#answered.reject(new Error('the server refused a watch'))
  }
}

const uint32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

const setting = (id: number, value: number): Buffer => Buffer.concat([Buffer.of(0, id), uint32(value)])

const frame = (type: number, flags: number, stream: number, payload: Buffer): Buffer =>
  Buffer.concat([uint32(payload.length).subarray(1), Buffer.of(type, flags), uint32(stream), payload])

/** Header literals without indexing; method and scheme are in HPACK's static table. */
function requestHeaders(authority: string, path: string): Buffer {
  const literal = (name: readonly number[], value: string) =>
    Buffer.concat([Buffer.of(...name, value.length), Buffer.from(value, 'latin1')])
  const [get, https, authorityName, pathName, acceptName] = [0x82, 0x87, [0x01], [0x04], [0x0f, 0x04]] as const
  return Buffer.concat([
    Buffer.of(get, https),
    literal(authorityName, authority),
    literal(pathName, path),
    literal(acceptName, 'application/json'),
  ])
}
