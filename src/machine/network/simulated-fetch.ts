// fetch over a simulated network: a subset of the standard's, with one connection per request. Redirects are not
// followed and TLS is not simulated.
import { concatBytes } from '../../base/collections/concat-bytes.ts'
import type { Clock, Timer } from '../../base/time/clock.ts'
import type { ByteStream } from '../../platform/http/byte-stream.ts'
import type { OutboundResponse, SendOn, StreamedOutboundRequest } from '../../platform/http/outbound.ts'
import { NetworkError } from './network-error.ts'

export interface FetchInit {
  /** GET by default. */
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  /** A stream is sent in chunks, as it is produced. */
  readonly body?: StreamedOutboundRequest['body']
  readonly signal?: AbortSignal
  /** How long the request and its response may take, in the cluster's time; unlimited by default. */
  readonly timeoutMs?: number
}

/** Connects to a host, which may be a name. */
export type Dial = (host: string, port: number, signal: AbortSignal) => Promise<ByteStream>

export interface FetchDeps {
  readonly dial: Dial
  readonly sendOn: SendOn
  readonly clock: Pick<Clock, 'after'>
}

/** How the steps of a call are awaited; a test advances the time meanwhile. */
export type Awaiter = <T>(step: Promise<T>) => Promise<T>

export class FetchResponse {
  readonly status: number
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>
  /** The body as it arrives. The body can be read once, with this or one of the methods. */
  readonly body: AsyncIterable<Uint8Array>

  /** @internal */
  constructor({ status, headers, body }: OutboundResponse, awaiter: Awaiter = (step) => step) {
    this.status = status
    this.headers = new Map(Object.entries(headers))
    this.body = awaitedPieces(body, awaiter)
  }

  /** Whether the status is 2xx. */
  get ok(): boolean {
    return this.status >= 200 && this.status < 300
  }

  async bytes(): Promise<Uint8Array> {
    const pieces: Uint8Array[] = []
    for await (const piece of this.body) pieces.push(piece)
    return concatBytes(pieces)
  }

  async text(): Promise<string> {
    return new TextDecoder().decode(await this.bytes())
  }

  async json(): Promise<unknown> {
    return JSON.parse(await this.text())
  }
}

/** Resolves with the head of the response. Rejects with NetworkError when there is no connection. */
export async function simulatedFetch(url: string, init: FetchInit, deps: FetchDeps): Promise<OutboundResponse> {
  const { method = 'GET', timeoutMs, signal = new AbortController().signal } = init
  if (timeoutMs === undefined) return exchange(url, init, deps, signal)
  const late = new AbortController()
  const timer = deps.clock.after(timeoutMs, () =>
    late.abort(new NetworkError('ETIMEDOUT', `${method} ${url}: no complete response within ${timeoutMs} ms`)),
  )
  try {
    const response = await exchange(url, init, deps, AbortSignal.any([signal, late.signal]))
    return { ...response, body: cancelling(response.body, timer) }
  } catch (error) {
    timer.cancel()
    throw error
  }
}

async function* cancelling(body: AsyncIterable<Uint8Array>, timer: Timer): AsyncGenerator<Uint8Array, void> {
  try {
    yield* body
  } finally {
    timer.cancel()
  }
}

async function exchange(
  url: string,
  { method = 'GET', headers = {}, body }: FetchInit,
  { dial, sendOn }: FetchDeps,
  signal: AbortSignal,
): Promise<OutboundResponse> {
  const { protocol, hostname, host, port, pathname, search } = new URL(url)
  if (protocol !== 'http:')
    throw new TypeError(`${url}: only http: URLs can be fetched, because TLS is not simulated between pods`)
  const stream = await dial(withoutBrackets(hostname), port === '' ? 80 : Number(port), signal)
  const given = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const)
  const request: StreamedOutboundRequest = {
    method,
    target: `${pathname}${search}`,
    headers: { host, accept: '*/*', ...Object.fromEntries(given) },
    ...(body === undefined ? {} : { body }),
  }
  return sendOn(stream, request, signal)
}

const withoutBrackets = (hostname: string): string => (hostname.startsWith('[') ? hostname.slice(1, -1) : hostname)

/** Awaits each piece with the awaiter. */
export async function* awaitedPieces(
  body: AsyncIterable<Uint8Array>,
  awaiter: Awaiter,
): AsyncGenerator<Uint8Array, void> {
  const pieces = body[Symbol.asyncIterator]()
  try {
    for (;;) {
      const next = await awaiter(pieces.next())
      if (next.done === true) return
      yield next.value
    }
  } finally {
    await pieces.return?.()
  }
}
