// Forwards a request that asks for another protocol, such as WebSocket, on a connection of its own, and then the bytes of
// both directions until either side ends or no bytes were sent for a while.
import { joinHostPort } from '../../base/net/host-port.ts'
import type { WireResponse } from '../../platform/http/listener.ts'
import { Unreachable, type OutboundProvider, type OutboundRequest } from '../../platform/http/outbound.ts'
import { NotSent } from '../../platform/http/http-pool.ts'
import type { ServerIdentity } from '../../platform/http/server-identity.ts'
import type { Peer } from '../../platform/sockets/sockets.ts'
import type { HeaderChanges } from '../routing/header-changes.ts'
import { returnedHeaders } from './forwarded-request.ts'
import { joinStreams, type JoinStreamsDeps } from './join-streams.ts'

export interface UpgradeDeps extends JoinStreamsDeps {
  readonly outbound: Pick<OutboundProvider, 'exchange'>
  readonly endpoint: Peer
  /** The endpoint is called over TLS. */
  readonly identity?: ServerIdentity | undefined
  readonly responseHeaders: readonly HeaderChanges[]
}

export async function forwardUpgrade(
  deps: UpgradeDeps,
  request: OutboundRequest,
  signal: AbortSignal,
): Promise<WireResponse> {
  const { outbound, endpoint, identity, responseHeaders } = deps
  const { address, port } = endpoint
  const origin = `${identity === undefined ? 'http' : 'https'}://${joinHostPort(address, port)}`
  const tls = identity === undefined ? {} : { identity }
  const exchange = await outbound.exchange({ origin, tls }, request, signal).catch((error: unknown) => {
    throw error instanceof Unreachable ? new NotSent(error.message, { cause: error }) : error
  })
  if (exchange.kind === 'answer')
    return { status: exchange.status, headers: returnedHeaders(exchange, responseHeaders), body: exchange.body }
  const headers = returnedHeaders(exchange, responseHeaders)
  const { upgrade = '' } = exchange.headers
  return {
    status: 101,
    headers: { ...headers, connection: 'upgrade', upgrade },
    body: '',
    onUpgrade: (client) => joinStreams(client, exchange.stream, deps),
  }
}
