// Discovery: a machine that joins gets the authorities of a cluster from its public ConfigMap cluster-info. The
// server is not known yet, so its certificate is not verified; the authorities are trusted if the token pins them, and the
// token is sent only to a server with a certificate of theirs.
import { errorText } from '../../base/observability/log.ts'
import { lookup } from '../../base/collections/lookup.ts'
import type { Clock } from '../../base/time/clock.ts'
import { embeddedAuthorities } from '../../client/transport/kubeconfig-access.ts'
import { base64Text } from '../../pki/pem.ts'
import type { CryptoProvider } from '../../platform/crypto/crypto.ts'
import type { OutboundProvider } from '../../platform/http/outbound.ts'
import { pinnedAuthorities, type JoinToken, type PinnedAuthorities } from './join-token-text.ts'
import { signaturePrefix } from '../../controllers/tokens/bootstrap-signer.ts'

const infoBytesMax = 1 << 20
const infoPath = '/api/v1/namespaces/kube-public/configmaps/cluster-info'
const responseMs = 10_000

export interface DiscoveryDeps {
  readonly outbound: OutboundProvider
  readonly crypto: Pick<CryptoProvider, 'sha256'>
  readonly clock: Clock
}

export interface DiscoveredCluster {
  /** A kubeconfig with the token. */
  readonly kubeconfig: string
  /** Why the server rejects the token. */
  readonly whyRejected: string
}

export async function discoverCluster(
  server: string,
  token: JoinToken,
  { outbound, crypto, clock }: DiscoveryDeps,
  signal: AbortSignal,
): Promise<DiscoveredCluster> {
  const data = await clusterInfo(server, outbound, clock, signal)
  const pinned = await authoritiesIn(data, token, crypto).catch((cause: unknown) => {
    throw new Error(`${server} publishes no valid CA in kube-public/cluster-info`, { cause })
  })
  if (pinned.kind === 'other') throw new Error(`the token belongs to another cluster than ${server}: ${pinned.why}`)
  // A cluster signs the ConfigMap with each valid token.
  const isKnown = Object.hasOwn(data, `${signaturePrefix}${token.id}`)
  const why = isKnown ? 'its secret is wrong' : 'it is unknown, has expired or was deleted'
  return {
    kubeconfig: joinKubeconfig(server, pinned.authorities, token.credential),
    whyRejected: `${server} does not accept the token ${token.id}: ${why}`,
  }
}

async function authoritiesIn(
  data: Readonly<Record<string, string>>,
  token: JoinToken,
  crypto: DiscoveryDeps['crypto'],
): Promise<PinnedAuthorities> {
  return pinnedAuthorities(token, await embeddedAuthorities(lookup(data, 'kubeconfig') ?? ''), crypto)
}

async function clusterInfo(
  server: string,
  outbound: OutboundProvider,
  clock: Clock,
  signal: AbortSignal,
): Promise<Readonly<Record<string, string>>> {
  const unverified = outbound.connect({ origin: server, tls: { insecureSkipVerify: true } })
  const deadline = new AbortController()
  const timer = clock.after(responseMs, () =>
    deadline.abort(new Error(`it does not respond within ${responseMs / 1000} s`)),
  )
  try {
    const request = { method: 'GET', target: infoPath, headers: { accept: 'application/json' } }
    const { status, body } = await unverified.send(request, AbortSignal.any([signal, deadline.signal]))
    const text = await boundedText(body)
    if (status === 403 || status === 404)
      throw new Error(
        `it publishes no kube-public/cluster-info (${status}); create a token on it: coxswain token create`,
      )
    if (status !== 200) throw new Error(`the response has the status ${status}`)
    return (JSON.parse(text) as { readonly data?: Readonly<Record<string, string>> }).data ?? {}
  } catch (error) {
    signal.throwIfAborted()
    throw new Error(`cannot join the cluster of ${server}: ${errorText(error)}`, { cause: error })
  } finally {
    timer.cancel()
    await unverified.close()
  }
}

async function boundedText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of body) {
    bytes += piece.length
    if (bytes > infoBytesMax) throw new Error(`the response has more than ${infoBytesMax} bytes`)
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString()
}

/** A kubeconfig with a token, for the first request of a machine. */
const joinKubeconfig = (server: string, authority: string, token: string): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'join', cluster: { server, 'certificate-authority-data': base64Text(authority) } }],
    contexts: [{ name: 'join', context: { cluster: 'join', user: 'join' } }],
    'current-context': 'join',
    users: [{ name: 'join', user: { token } }],
  })
