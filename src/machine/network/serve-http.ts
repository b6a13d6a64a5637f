// Serves HTTP/1.1 on connections of the simulated network with the same implementation as the API server's port. Timeouts
// of idle connections do not apply, since they would keep a virtual clock busy.
import { concatBytes } from '../../base/collections/concat-bytes.ts'
import type { Clock } from '../../base/time/clock.ts'
import { TimeSlicedWork } from '../../base/work/time-sliced-work.ts'
import type { ByteStream } from '../../platform/http/byte-stream.ts'
import type { WireRequest, WireResponse } from '../../platform/http/listener.ts'
import { Http1Connection, type Http1Options } from '../../platform/http1/http1-connection.ts'
import type { Http1Socket } from '../../platform/http1/http1-socket.ts'
import { httpDate } from '../../platform/http1/http-date.ts'
import { latin1Bytes, latin1Text } from '../../platform/http1/latin1.ts'
import { listenLimitsDefault } from '../../platform/limits/listen-limits.ts'
import { MemoryBudget } from '../../platform/limits/memory-budget.ts'
import type { SimulatedAcceptor } from './simulated-network.ts'

export interface SimulatedRequest {
  readonly method: string
  /** Path and query as sent. */
  readonly path: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** The address of the client as the pod sees it. */
  readonly remoteAddress: string
  /** Aborted when the client disconnects before the response is complete. */
  readonly signal: AbortSignal
  /** The whole body. */
  readonly bytes: () => Promise<Uint8Array>
  readonly text: () => Promise<string>
  readonly json: () => Promise<unknown>
}

export type SimulatedHttpHandler = (request: SimulatedRequest) => SimulatedResponse | Promise<SimulatedResponse>

export interface SimulatedResponse {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  /** A stream is sent as it is produced, each piece at once. */
  readonly body?: string | Uint8Array | AsyncIterable<Uint8Array | string>
}

/** The largest body of a request. */
const bodyBytesMax = 16 << 20
/** Bytes of responses that are not yet on their way before the handler waits. */
const unsentBytesMax = 64 * 1024

/** An acceptor whose connections are served by the handler; an error of the handler becomes a 500. */
export function httpAcceptor(handle: SimulatedHttpHandler, clock: Clock): SimulatedAcceptor {
  const budget = new MemoryBudget(listenLimitsDefault, () => {})
  const turns = new TimeSlicedWork(clock)
  const date = httpDate(clock)
  return (stream, { address }) =>
    serveConnection(stream, {
      handle: async (request) => wireResponse(await handle(simulatedRequest(request))),
      remoteAddress: address,
      certificate: undefined,
      client: address,
      budget,
      onShed: () => {},
      textOf: latin1Text,
      date,
      second: () => Math.floor(clock.nowMs() / 1_000),
      turns,
    })
}

const wireResponse = ({ status, headers = {}, body = '' }: SimulatedResponse): WireResponse => ({
  status,
  headers,
  body,
})

function simulatedRequest(request: WireRequest): SimulatedRequest {
  const { method, target, headers, remoteAddress, signal } = request
  let read: Promise<Uint8Array> | undefined
  const bytes = () => (read ??= Promise.resolve(request.body(bodyBytesMax)))
  const text = async () => new TextDecoder().decode(await bytes())
  const json = async (): Promise<unknown> => JSON.parse(await text())
  const known = headers as Readonly<Record<string, string>> // a header that is present has a value
  return { method, path: target, headers: known, remoteAddress, signal, bytes, text, json }
}

/** Resolves when the client has closed the connection. */
async function serveConnection(stream: ByteStream, options: Http1Options): Promise<void> {
  const socket = new StreamSocket(stream, () => connection)
  const connection = new Http1Connection(socket, options)
  try {
    for await (const piece of stream.pieces) {
      await socket.resumed
      connection.receive(piece)
    }
  } finally {
    connection.closed()
    stream.destroy()
  }
}

class StreamSocket implements Http1Socket {
  readonly #stream: ByteStream
  readonly #connection: () => Http1Connection
  #resume: PromiseWithResolvers<void> | undefined
  #isBehind = false
  unsentBytes = 0
  sentBytes = 0

  constructor(stream: ByteStream, connection: () => Http1Connection) {
    this.#stream = stream
    this.#connection = connection
  }

  /** Set while reading is paused. */
  get resumed(): Promise<void> | undefined {
    return this.#resume?.promise
  }

  write(parts: readonly (string | Uint8Array)[]): boolean {
    const bytes = concatBytes(parts.map((part) => (typeof part === 'string' ? latin1Bytes(part) : part)))
    this.unsentBytes += bytes.length
    this.#stream.write(bytes).then(
      () => this.#sent(bytes.length),
      () => this.destroy(),
    )
    this.#isBehind = this.unsentBytes > unsentBytesMax
    return !this.#isBehind
  }

  #sent(bytes: number): void {
    this.unsentBytes -= bytes
    this.sentBytes += bytes
    if (!this.#isBehind || this.unsentBytes > 0) return
    this.#isBehind = false
    this.#connection().drained()
  }

  pause(): void {
    this.#resume ??= Promise.withResolvers()
  }

  resume(): void {
    this.#resume?.resolve()
    this.#resume = undefined
  }

  end(): void {
    this.#stream.end()
  }

  destroy(): void {
    this.#stream.destroy()
    this.#connection().closed()
  }

  detach(): ByteStream {
    throw new Error('simulated servers do not upgrade connections')
  }
}
