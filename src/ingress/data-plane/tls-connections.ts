// TlsConnections: connections of TLS whose contents are forwarded: as they are, or decrypted where the server name has a
// certificate. The server name of the client selects the route; a connection without a route or endpoint is closed.
import { concatBytes } from '../../base/collections/concat-bytes.ts'
import type { Random } from '../../base/random/random.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { ByteStream } from '../../platform/http/byte-stream.ts'
import type { KeyPair } from '../../platform/http/listener.ts'
import type { Peer, Sockets } from '../../platform/sockets/sockets.ts'
import { nextEndpoint } from '../backends/next-endpoint.ts'
import type { ServiceEndpoints } from '../backends/service-endpoints.ts'
import type { Certificates } from '../routing/certificate-table.ts'
import type { Backend } from '../routing/route.ts'
import type { RouteFinder } from '../routing/route-table.ts'
import { selectBackend } from '../routing/select-backend.ts'
import type { RequestRecorder } from './access-log.ts'
import { parseClientHello } from './client-hello.ts'
import { joinStreams } from './join-streams.ts'

export interface TlsConnectionsLimits {
  /** How many endpoints a connection is tried with. */
  readonly attemptsMax: number
  /** From the connection to the server name of the client, and until an endpoint has accepted it. */
  readonly connectMsMax: number
  readonly idleMsMax: number
}

/** In how many pieces a client may send its first message, which is read again with each. */
const openingPiecesMax = 1_024

export const tlsConnectionLimitsDefault: TlsConnectionsLimits = {
  attemptsMax: 3,
  connectMsMax: 5_000,
  idleMsMax: 3_600_000,
}

export interface TlsConnectionsDeps {
  readonly clock: Clock
  readonly random: Random
  readonly endpoints: Pick<ServiceEndpoints, 'of'>
  readonly sockets: Pick<Sockets, 'acceptTls' | 'connectStream'>
  readonly recorder: Pick<RequestRecorder, 'begin' | 'forward' | 'finish' | 'connected'>
  readonly limits: TlsConnectionsLimits
}

/** Why a connection was closed without an endpoint. */
type Refusal =
  | 'no endpoint accepts the connection'
  | 'no rule matches the server name'
  | 'the backend is not valid'
  | 'the TLS handshake has failed'

/** The port at which connections arrive. */
export interface TlsEntry {
  readonly routes: RouteFinder
  /** Connections for these names are decrypted. */
  readonly certificates: Certificates
}

export class TlsConnections {
  readonly #deps: TlsConnectionsDeps

  constructor(deps: TlsConnectionsDeps) {
    this.#deps = deps
  }

  /** Resolves when the connection is closed. */
  async serve(client: ByteStream, from: Peer, entry: TlsEntry): Promise<void> {
    try {
      const opening = await this.#opening(client)
      if (opening === undefined) client.destroy()
      else await this.#forward(opening, from, entry)
    } catch {
      client.destroy()
    }
  }

  /** Undefined if the client has not named a server in time. */
  async #opening(client: ByteStream): Promise<Opening | undefined> {
    const { clock, limits } = this.#deps
    const timer = clock.after(limits.connectMsMax, () => client.destroy())
    try {
      const pieces = client.pieces[Symbol.asyncIterator]()
      const first: Uint8Array[] = []
      while (first.length < openingPiecesMax) {
        const next = await pieces.next()
        if (next.done === true) return undefined
        first.push(next.value)
        const hello = parseClientHello(concatBytes(first))
        if (hello.kind === 'invalid') return undefined
        if (hello.kind === 'complete') return { serverName: hello.serverName, stream: resumed(client, first, pieces) }
      }
      return undefined
    } finally {
      timer.cancel()
    }
  }

  async #forward({ serverName, stream }: Opening, from: Peer, entry: TlsEntry): Promise<void> {
    const { clock, random, recorder, limits } = this.#deps
    const route = entry.routes.find({ method: '', host: serverName, path: '/', query: '', header: () => undefined })
    const event = recorder.begin({ method: 'TLS', host: serverName, path: '' }, route?.name)
    const closed = (failure: Refusal) => {
      stream.destroy()
      recorder.finish(event, failure)
      recorder.connected({ host: serverName, client: from.address, route: route?.name, endpoint: undefined, failure })
    }
    if (route === undefined) return closed('no rule matches the server name')
    const backend = selectBackend(route.backends, random)?.backend
    if (backend === undefined) return closed('the backend is not valid')
    const pair = entry.certificates.get(serverName)
    const contents = pair === undefined ? stream : await this.#decrypted(stream, pair)
    if (contents === undefined) return closed('the TLS handshake has failed')
    const found = await this.#connected(backend)
    if (found === undefined) return closed('no endpoint accepts the connection')
    const endpoint = `${found.endpoint.address}:${found.endpoint.port}`
    recorder.finish(recorder.forward(event, endpoint, route.name), 'connected')
    recorder.finish(event, 'connected')
    recorder.connected({ host: serverName, client: from.address, route: route.name, endpoint, failure: undefined })
    await joinStreams(contents, found.stream, { clock, idleMsMax: limits.idleMsMax })
  }

  /** Undefined if the client does not complete the handshake in time. */
  async #decrypted(stream: ByteStream, pair: KeyPair): Promise<ByteStream | undefined> {
    const { clock, sockets, limits } = this.#deps
    const stop = new AbortController()
    const timer = clock.after(limits.connectMsMax, () => stop.abort(new Error('the client does not respond')))
    try {
      return await sockets.acceptTls(stream, pair, stop.signal)
    } catch {
      return undefined
    } finally {
      timer.cancel()
    }
  }

  async #connected(backend: Backend): Promise<{ readonly endpoint: Peer; readonly stream: ByteStream } | undefined> {
    const { endpoints, sockets, clock, limits } = this.#deps
    const tried = new Set<Peer>()
    while (tried.size < limits.attemptsMax) {
      const endpoint = nextEndpoint(endpoints.of(backend), tried)
      if (endpoint === undefined) return undefined
      tried.add(endpoint)
      const stop = new AbortController()
      const timer = clock.after(limits.connectMsMax, () => stop.abort(new Error('the endpoint does not respond')))
      try {
        return { endpoint, stream: await sockets.connectStream(endpoint, stop.signal) }
      } catch {
        // The next endpoint is tried.
      } finally {
        timer.cancel()
      }
    }
    return undefined
  }
}

interface Opening {
  readonly serverName: string
  /** All bytes of the client, from its first. */
  readonly stream: ByteStream
}

/** The stream as if nothing had been read of it. */
const resumed = (stream: ByteStream, first: readonly Uint8Array[], rest: AsyncIterator<Uint8Array>): ByteStream => ({
  pieces: (async function* () {
    yield* first
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value
  })(),
  write: (piece) => stream.write(piece),
  end: () => stream.end(),
  destroy: () => stream.destroy(),
})
