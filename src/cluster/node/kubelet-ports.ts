// The ports of a kubelet in its own process: HTTPS with authorization, and health on loopback.
import { realClock } from '../../base/time/clock.ts'
import { systemRandom } from '../../base/random/random.ts'
import type { TaskGroup } from '../../base/async/task-group.ts'
import { CertificateFile } from '../../kubelet/certificates/certificate-file.ts'
import { rotateCertificate } from '../../kubelet/certificates/rotating-certificate.ts'
import type { KubeletServer } from '../../kubelet/server/kubelet-server.ts'
import { Authority, type Identity } from '../../pki/authority.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { shedReport } from '../../platform/limits/shed-report.ts'
import type { KubeletNodeDeps } from './kubelet-node.ts'
import type { KubeletProcessSettings } from '../flags/kubelet-process-flags.ts'

/** How long open requests may take during the stop. */
const drainMs = 1_000

/** The server, once the kubelet has started. */
export interface KubeletServerHolder {
  server: KubeletServer | undefined
}

export interface KubeletPort {
  readonly own: KubeletProcessSettings
  readonly hostIp: string
  readonly nodeName: string
  readonly certificateDirectory: string
  /** The authority of client certificates, as PEM. */
  readonly authority: string | undefined
  readonly holder: KubeletServerHolder
  readonly deps: Omit<KubeletNodeDeps, 'flow'>
}

/** The HTTPS port, with the configured certificate, one that the cluster signs, or a self-signed one. */
export async function listenForRequests(
  { own, hostIp, nodeName, certificateDirectory, authority, holder, deps }: KubeletPort,
  tasks: TaskGroup,
  cleanUps: AsyncDisposableStack,
): Promise<number> {
  const { files, listeners, crypto } = nodePlatform
  const clientAuthorities = authority === undefined ? {} : { users: authority }
  const file = new CertificateFile(`${certificateDirectory}/kubelet-server-current.pem`, files)
  const signed = own.rotatesServing ? await file.read() : undefined
  const first = own.serving ?? signed ?? selfMade(nodeName, hostIp)
  const listener = await listeners.listen({
    host: own.address ?? hostIp,
    port: own.port,
    tls: { ...first, clientAuthorities },
    onShed: shedReport({ log: deps.log, clock: realClock }),
    handle: (request) =>
      holder.server?.handle(request) ?? Promise.resolve({ status: 503, headers: {}, body: 'the kubelet starts' }),
  })
  cleanUps.defer(() => listener.close(drainMs))
  if (own.rotatesServing && own.serving === undefined)
    tasks.start('serving certificate', (stop) => {
      const wish = { use: 'serving', nodeName, addresses: [hostIp] } as const
      const onChange = (identity: Identity) => void listener.renew({ ...identity, clientAuthorities })
      return rotateCertificate(signed, { ...deps, crypto, file, template: wish, onChange }, stop)
    })
  return listener.port
}

/** As upstream: a self-signed certificate when the cluster does not sign one. */
const selfMade = (nodeName: string, hostIp: string): Identity => {
  const authority = Authority.create(`${nodeName}-ca`, {
    clock: realClock,
    random: systemRandom,
    crypto: nodePlatform.crypto,
  })
  const subject = { commonName: nodeName, organizations: [] }
  return authority.issue({ subject, uses: ['server'], dnsNames: [nodeName], addresses: [hostIp] })
}

export async function listenForHealth(
  { health }: KubeletProcessSettings,
  cleanUps: AsyncDisposableStack,
): Promise<void> {
  if (health === undefined) return
  const headers = { 'content-type': 'text/plain; charset=utf-8' }
  const listener = await nodePlatform.listeners.listen({
    ...health,
    handle: ({ target }) =>
      Promise.resolve(
        target.split('?')[0] === '/healthz'
          ? { status: 200, headers, body: 'ok' }
          : { status: 404, headers, body: '404 page not found\n' },
      ),
  })
  cleanUps.defer(() => listener.close(drainMs))
}
