// ReadinessProbe: asks API servers whether they are ready, over connections that are kept between the checks.
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import type { Outbound, OutboundProvider } from '../../platform/http/outbound.ts'
import type { Peer } from '../../platform/sockets/sockets.ts'
import { serverName } from './balanced-servers.ts'

export interface ReadinessProbe {
  /** Whether the server is ready. Rejects when it does not respond, or has no certificate of the cluster. */
  check(server: Peer, signal: AbortSignal): Promise<boolean>
  /** Closes the connection to a server. */
  forget(server: Peer): void
}

/** A name that is in the certificate of every API server. Their addresses are only in their own. */
export const apiServerCertificateName = 'kubernetes.default.svc'

export function readinessProbe(
  provider: Pick<OutboundProvider, 'connect'>,
  /** The authorities of servers, which may be replaced. */
  authority: () => string | undefined,
): ReadinessProbe {
  const connections = new Map<string, Outbound>()
  const forget = (server: Peer) => {
    const name = serverName(server)
    void connections.get(name)?.close()
    connections.delete(name)
  }
  return {
    forget,
    async check(server, signal) {
      const name = serverName(server)
      const connect = () => {
        const trusted = authority()
        const tls = { ...(trusted === undefined ? {} : { authority: trusted }), serverName: apiServerCertificateName }
        return provider.connect({ origin: `https://${name}`, tls })
      }
      const connection = getOrInsert(connections, name, connect)
      try {
        const request = { method: 'GET', target: '/readyz', headers: { accept: 'text/plain' } }
        const { status, body } = await connection.send(request, signal)
        for await (const piece of body) void piece
        // A server that rejects anonymous requests (401, 403) or has too many of them (429) serves its clients.
        return status < 500
      } catch (error) {
        // The next check opens another connection.
        forget(server)
        throw error
      }
    },
  }
}
