// The HTTPS port of a kubelet.
import { realClock } from '../../base/time/clock.ts'
import type { Log } from '../../base/observability/log.ts'
import { systemRandom } from '../../base/random/random.ts'
import type { KubeletServer } from '../../kubelet/server/kubelet-server.ts'
import { Authority, type Identity } from '../../pki/authority.ts'
import { shedReport } from '../../platform/limits/shed-report.ts'
import { nodePlatform } from '../../platform/node/platform.ts'

/** How long open requests may take during the stop. */
export const drainMs = 1_000

/** The server, once the kubelet has started. */
export interface KubeletServerHolder {
  server: KubeletServer | undefined
}

export interface KubeletPort {
  readonly host: string
  readonly port: number
  readonly identity: Identity
  /** The authority of client certificates, as PEM. */
  readonly authority: string | undefined
  readonly holder: KubeletServerHolder
  readonly log: Log
}

interface OpenKubeletPort {
  readonly port: number
  renew(identity: Identity): void
}

/** The HTTPS port. Requests get 503 while no kubelet runs. */
export async function openKubeletPort(
  { host, port, identity, authority, holder, log }: KubeletPort,
  cleanUps: AsyncDisposableStack,
): Promise<OpenKubeletPort> {
  const clientAuthorities = authority === undefined ? {} : { users: authority }
  const listener = await nodePlatform.listeners.listen({
    host,
    port,
    tls: { ...identity, clientAuthorities },
    onShed: shedReport({ log, clock: realClock }),
    handle: (request) =>
      holder.server?.handle(request) ?? Promise.resolve({ status: 503, headers: {}, body: 'the kubelet starts' }),
  })
  cleanUps.defer(() => listener.close(drainMs))
  return { port: listener.port, renew: (fresh) => void listener.renew({ ...fresh, clientAuthorities }) }
}

/** As upstream when the cluster does not sign the certificate. */
export const selfSigned = (nodeName: string, hostIp: string): Identity => {
  const authority = Authority.create(`${nodeName}-ca`, {
    clock: realClock,
    random: systemRandom,
    crypto: nodePlatform.crypto,
  })
  const subject = { commonName: nodeName, organizations: [] }
  return authority.issue({ subject, uses: ['server'], dnsNames: [nodeName], addresses: [hostIp] })
}
