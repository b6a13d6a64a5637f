// The ports of a kubelet in its own process: HTTPS with authorization, and health on loopback.
import type { TaskGroup } from '../../base/async/task-group.ts'
import { CertificateFile } from '../../kubelet/certificates/certificate-file.ts'
import { rotateCertificate } from '../../kubelet/certificates/rotating-certificate.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import type { KubeletNodeDeps } from './kubelet-node.ts'
import { drainMs, openKubeletPort, selfSigned, type KubeletPort, type OpenKubeletPort } from './kubelet-port.ts'
import type { KubeletProcessSettings } from '../flags/kubelet-process-flags.ts'

export interface KubeletProcessPort extends Pick<KubeletPort, 'authority' | 'holder'> {
  readonly own: KubeletProcessSettings
  readonly hostIp: string
  readonly nodeName: string
  readonly certificateDirectory: string
  readonly deps: Omit<KubeletNodeDeps, 'flow'>
}

/** The HTTPS port with the configured certificate, one that the cluster signs, or a self-signed one. */
export async function listenForRequests(
  { own, hostIp, nodeName, certificateDirectory, authority, holder, deps }: KubeletProcessPort,
  tasks: TaskGroup,
  cleanUps: AsyncDisposableStack,
): Promise<OpenKubeletPort> {
  const { files, crypto } = nodePlatform
  const file = new CertificateFile(`${certificateDirectory}/kubelet-server-current.pem`, files)
  const signed = own.rotatesServing ? await file.read() : undefined
  const identity = own.serving ?? signed ?? selfSigned(nodeName, hostIp)
  const { address = hostIp, port } = own
  const opened = await openKubeletPort({ host: address, port, identity, authority, holder, log: deps.log }, cleanUps)
  if (own.rotatesServing && own.serving === undefined)
    tasks.start('serving certificate', (stop) => {
      const template = { use: 'serving', nodeName, addresses: [hostIp] } as const
      const { renew: onChange } = opened
      return rotateCertificate(signed, { ...deps, crypto, file, template, onChange }, stop)
    })
  return opened
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
