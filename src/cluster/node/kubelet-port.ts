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

export interface OpenKubeletPort {
  readonly port: number
  /** Uses the certificate for new connections. */
  renew(identity: Identity): void
  /** Accepts client certificates of these authorities (PEM) from now on. */
  trust(authority: string): void
}

/** The HTTPS port. Requests get 503 while no kubelet runs. */
export async function openKubeletPort(
  { host, port, identity, authority, holder, log }: KubeletPort,
  cleanUps: AsyncDisposableStack,
): Promise<OpenKubeletPort> {
  let tls = { ...identity, clientAuthorities: authority === undefined ? {} : { users: authority } }
  const listener = await nodePlatform.listeners.listen({
    host,
    port,
    tls,
    onShed: shedReport({ log, clock: realClock }),
    handle: (request) =>
      holder.server?.handle(request) ?? Promise.resolve({ status: 503, headers: {}, body: 'the kubelet starts' }),
  })
  cleanUps.defer(() => listener.close(drainMs))
  const change = (changed: Partial<typeof tls>) => {
    tls = { ...tls, ...changed }
    void listener.renew(tls)
  }
  return {
    port: listener.port,
    renew: ({ certificate, key }) => change({ certificate, key }),
    trust: (users) => change({ clientAuthorities: { users } }),
  }
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
