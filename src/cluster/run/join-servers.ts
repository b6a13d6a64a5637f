// fetchServerBundle: a machine that becomes a server gets the authorities of the cluster from a server.
import { context } from '../../base/observability/context.ts'
import { realClock } from '../../base/time/clock.ts'
import { hasReason } from '../../api/errors/status-error.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { lookup } from '../../base/collections/lookup.ts'
import { openBundle, type ServerBundle } from '../bootstrap/server-bundle.ts'
import { readSealedBundle } from '../bootstrap/server-token.ts'
import { discoverCluster } from '../client/discover-cluster.ts'
import type { JoinToken } from '../client/join-token-text.ts'
import { openRemote } from '../client/remote.ts'

/** A bundle needs a few kilobytes. */
const sealedBytesMax = 1 << 20

/** Rejects with one line that says why the token is not accepted. */
export async function fetchServerBundle(server: string, token: JoinToken, signal: AbortSignal): Promise<ServerBundle> {
  const { id, serverKey } = token
  if (serverKey === undefined) throw new Error(onlyForNodes(id))
  const { kubeconfig, whyRejected } = await discoverCluster(
    server,
    token,
    { ...nodePlatform, clock: realClock },
    signal,
  )
  await using remote = await openRemote(kubeconfig, signal)
  const client = remote.clientAs('coxswain server')
  const sealed = await readSealedBundle(client, id, context(signal)).catch((error: unknown) => {
    if (hasReason(error, 'Unauthorized')) throw new Error(whyRejected, { cause: error })
    if (hasReason(error, 'Forbidden') || hasReason(error, 'NotFound'))
      throw new Error(onlyForNodes(id), { cause: error })
    throw error
  })
  if (sealed.length > sealedBytesMax) throw new Error(`${server} has authorities of ${sealed.length} bytes`)
  const bundle = openBundle(sealed, id, Uint8Array.fromHex(serverKey))
  const authority = lookup(bundle.files, 'ca.crt')?.trim()
  if (authority === undefined || remote.authority?.includes(authority) !== true)
    throw new Error(`the authorities for the token ${id} are not those of ${server}`)
  return bundle
}

const onlyForNodes = (id: string): string =>
  `the token ${id} is for nodes, not for servers; create one for servers: coxswain token create --server`
