// The API server of a kubeconfig, for requests that are not those of a Client.
import { realClock } from '../../base/time/clock.ts'
import { readKubeconfig, type ClusterAccess } from '../../client/transport/kubeconfig-access.ts'
import type { Outbound, OutboundOptions } from '../../platform/http/outbound.ts'
import { nodePlatform } from '../../platform/node/platform.ts'

export interface KubeconfigConnection extends Pick<ClusterAccess, 'headers'> {
  readonly outbound: Outbound
  /** For requests on connections of their own. */
  readonly options: Pick<OutboundOptions, 'origin' | 'tls'>
}

export async function connectKubeconfig(kubeconfig: string, signal: AbortSignal): Promise<KubeconfigConnection> {
  const deps = { ...nodePlatform, clock: realClock }
  const { server, authority, certificate, key, headers } = await readKubeconfig(kubeconfig, deps, signal)
  const tls = {
    ...(authority === undefined ? {} : { authority }),
    ...(certificate === undefined ? {} : { certificate }),
    ...(key === undefined ? {} : { key }),
  }
  const options = { origin: server, tls }
  return { outbound: nodePlatform.outbound.connect(options), options, headers }
}
