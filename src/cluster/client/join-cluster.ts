// Joining: the kubeconfig of a kubelet. It exists, or is created with a bootstrap kubeconfig: the kubelet requests a
// certificate with the bootstrap token and writes a kubeconfig that refers to it.
import { dirname } from 'node:path'
import { realClock } from '../../base/time/clock.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import { systemRandom } from '../../base/random/random.ts'
import { StatusError } from '../../api/errors/status-error.ts'
import { readKubeconfig } from '../../client/transport/kubeconfig-access.ts'
import { CertificateFile } from '../../kubelet/certificates/certificate-file.ts'
import { isExpired } from '../../kubelet/certificates/rotating-certificate.ts'
import { requestCertificate } from '../../kubelet/certificates/signing-request.ts'
import type { Identity } from '../../pki/authority.ts'
import { base64Text } from '../../pki/pem.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import type { JoinToken } from './join-token-text.ts'
import { discoverCluster } from './discover-cluster.ts'
import { openRemote } from './remote.ts'

/** What a node that has no certificate yet joins with. */
export type Bootstrap =
  /** A kubeconfig with a bootstrap token. */
  | { readonly kind: 'kubeconfig'; readonly path: string }
  /** The address of an API server and a token that pins its authorities. */
  | { readonly kind: 'token'; readonly server: string; readonly token: JoinToken }

export interface JoinOptions {
  readonly nodeName: string
  readonly kubeconfigPath: string
  readonly bootstrap: Bootstrap | undefined
  /** The flags that give it. */
  readonly bootstrapFlags: string
  /** The directory of the certificate and its key. */
  readonly certificateDirectory: string
  readonly log: Log
}

export interface Joined {
  readonly kubeconfig: string
  /** The certificate file, if the kubeconfig refers to it. It can be rotated there. */
  readonly file: CertificateFile | undefined
  readonly identity: Identity | undefined
}

const certificateName = 'kubelet-client-current.pem'
/** The key of a pending request. After a restart the kubelet waits for the same certificate. */
const pendingKeyName = 'kubelet-client.key.tmp'

export async function joinCluster(options: JoinOptions, signal: AbortSignal): Promise<Joined> {
  const { kubeconfigPath, bootstrap, bootstrapFlags, certificateDirectory, log } = options
  const { files } = nodePlatform
  const file = new CertificateFile(`${certificateDirectory}/${certificateName}`, files)
  const present = await files.read(kubeconfigPath)
  if (present !== undefined) {
    const kubeconfig = new TextDecoder().decode(present)
    const expired = await whyUnusable(kubeconfig, signal)
    if (expired === undefined) {
      const isRotated = kubeconfig.includes(file.path)
      return {
        kubeconfig,
        ...(isRotated ? { file, identity: await file.read() } : { file: undefined, identity: undefined }),
      }
    }
    if (bootstrap === undefined) throw new Error(`${kubeconfigPath}: ${expired}, and there is no ${bootstrapFlags}`)
    log.warn('joining the cluster again', { kubeconfig: kubeconfigPath, why: expired })
  }
  if (bootstrap === undefined) throw new Error(`there is no file ${kubeconfigPath}, and no ${bootstrapFlags}`)
  await files.makeDirectory(certificateDirectory)
  await files.makeDirectory(dirname(kubeconfigPath))
  return firstCertificate(options, await firstAccess(bootstrap, signal), file, signal)
}

/** Why the kubeconfig cannot be used. An unreachable server is not a reason. */
async function whyUnusable(kubeconfig: string, signal: AbortSignal): Promise<string | undefined> {
  const deps = { files: nodePlatform.files, processes: nodePlatform.processes, clock: realClock }
  try {
    const { certificate } = await readKubeconfig(kubeconfig, deps, signal)
    if (certificate === undefined || !isExpired(certificate, realClock.nowMs())) return undefined
    return 'its certificate has expired'
  } catch (error) {
    signal.throwIfAborted()
    return errorText(error)
  }
}

interface FirstAccess {
  readonly kubeconfig: string
  /** The message when the server does not accept the token. */
  readonly whyRejected: (server: string) => string
}

async function firstAccess(bootstrap: Bootstrap, signal: AbortSignal): Promise<FirstAccess> {
  const { files } = nodePlatform
  if (bootstrap.kind === 'token') {
    const deps = { ...nodePlatform, clock: realClock }
    const { kubeconfig, whyRejected } = await discoverCluster(bootstrap.server, bootstrap.token, deps, signal)
    return { kubeconfig, whyRejected: () => whyRejected }
  }
  const { path } = bootstrap
  const found = await files.read(path)
  if (found === undefined) throw new Error(`there is no file ${path}`)
  return {
    kubeconfig: new TextDecoder().decode(found),
    whyRejected: (server) => `${server} does not accept the token of ${path}: it is wrong or has expired`,
  }
}

async function firstCertificate(
  { nodeName, kubeconfigPath, certificateDirectory, log }: JoinOptions,
  access: FirstAccess,
  file: CertificateFile,
  signal: AbortSignal,
): Promise<Joined> {
  const { files, crypto } = nodePlatform
  await using remote = await openRemote(access.kubeconfig, signal)
  const pendingPath = `${certificateDirectory}/${pendingKeyName}`
  const pending = await files.read(pendingPath)
  const key = pending === undefined ? crypto.generateKey() : crypto.loadKey(new TextDecoder().decode(pending))
  if (pending === undefined) await files.write(pendingPath, key.privateKey)
  const client = remote.clientAs(`kubelet/${nodeName}`)
  const deps = { client, clock: realClock, random: systemRandom, log, crypto }
  const certificate = await requestCertificate({ use: 'client', nodeName }, key, deps, signal).catch(
    async (error: unknown) => {
      signal.throwIfAborted()
      if (error instanceof StatusError && error.code === 401) throw new Error(access.whyRejected(remote.server))
      // A denied request stays denied, so the next start uses another key.
      await files.remove(pendingPath)
      throw new Error(`no certificate for node ${nodeName}`, { cause: error })
    },
  )
  const identity = { certificate, key: key.privateKey }
  await file.write(identity)
  const kubeconfig = rotatedKubeconfig(remote.server, remote.authority, file.path)
  await files.write(kubeconfigPath, kubeconfig)
  await files.remove(pendingPath)
  return { kubeconfig, file, identity }
}

/** Writes the authorities (PEM) to the kubeconfig of a node that has joined. */
export const writeNodeKubeconfig = (
  path: string,
  {
    server,
    authority,
    certificatePath,
  }: { readonly server: string; readonly authority: string; readonly certificatePath: string },
): Promise<void> => nodePlatform.files.write(path, rotatedKubeconfig(server, authority, certificatePath))

/** Refers to the certificate file, as upstream's kubelets do, so that rotation does not change the kubeconfig. */
const rotatedKubeconfig = (
  server: string,
  authority: string | undefined,
  certificatePath: string,
): string => `apiVersion: v1
kind: Config
clusters:
- name: default-cluster
  cluster:
    server: ${server}
${authority === undefined ? '' : `    certificate-authority-data: ${base64Text(authority)}\n`}contexts:
- name: default-context
  context:
    cluster: default-cluster
    namespace: default
    user: default-auth
current-context: default-context
users:
- name: default-auth
  user:
    client-certificate: ${JSON.stringify(certificatePath)}
    client-key: ${JSON.stringify(certificatePath)}
`
