// The server balancer of a node: it begins with the servers that were known at the last stop, and then follows the endpoints
// of the Service `kubernetes`.
import { Informer, type InformerDeps } from '../../client/informer/informer.ts'
import { endpointSlice } from '../../api/discovery/v1/endpoint-slice.ts'
import type { Client } from '../../client/client.ts'
import type { AvoidedServers } from '../../client/server-balancer/avoided-servers.ts'
import { ServerBalancer } from '../../client/server-balancer/server-balancer.ts'
import {
  parseServers,
  publishedServers,
  publishedServersSelector,
  serversText,
} from '../../client/server-balancer/published-servers.ts'
import { readinessProbe } from '../../client/server-balancer/readiness-probe.ts'
import { readKubeconfig } from '../../client/transport/kubeconfig-access.ts'
import { hostOfUrl } from '../../base/net/host-port.ts'
import { errorText } from '../../base/observability/log.ts'
import type { TaskGroup } from '../../base/async/task-group.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import type { Peer } from '../../platform/sockets/sockets.ts'

export interface NodeBalancerOptions {
  /** Of the node. Its server is known whatever the cluster publishes. */
  readonly kubeconfig: string
  readonly nodeName: string
  /** 0: any free port. */
  readonly port: number
  /** Where the servers are kept. */
  readonly path: string
}

export interface NodeBalancer extends AsyncDisposable {
  /** Where it listens. */
  readonly at: Peer
  /** The servers, in the order in which connections try them. */
  servers(): readonly Peer[]
  /** Those that get no new connections. */
  readonly avoided: AvoidedServers
  /** Expects servers to have certificates of these authorities (PEM) from now on. */
  trust(authorities: string): void
  /** Follows what the cluster publishes. */
  follow(client: Client, tasks: TaskGroup): void
}

const loopback = '127.0.0.1'
const httpsPort = 443

export async function startNodeBalancer(
  { kubeconfig, nodeName, port, path }: NodeBalancerOptions,
  deps: InformerDeps,
  signal: AbortSignal,
): Promise<NodeBalancer> {
  const { clock, log } = deps
  const { crypto, files, outbound, processes, sockets } = nodePlatform
  const { server, authority } = await readKubeconfig(kubeconfig, { files, processes, clock }, signal)
  const url = new URL(server)
  const fallback = { address: hostOfUrl(url), port: Number(url.port || httpsPort) }
  const preferenceOf = (name: string) => crypto.sha256(`${nodeName} ${name}`).toHex()
  let trusted = authority
  const probe = readinessProbe(outbound, () => trusted)
  const balancer = new ServerBalancer({ host: loopback, port, fallback, preferenceOf }, { sockets, probe, clock, log })
  let kept = await files.read(path).then((bytes) => bytes && new TextDecoder().decode(bytes))
  if (kept !== undefined)
    try {
      balancer.list(parseServers(kept))
    } catch (error) {
      log.warn('the list of API servers cannot be read', { path, error: errorText(error) })
    }
  const at = await balancer.start().catch((cause: unknown) => {
    throw new Error(`cannot listen on ${loopback}:${port} for the API servers; use --lb-server-port`, { cause })
  })
  return {
    at,
    servers: () => balancer.servers().map(({ peer }) => peer),
    avoided: balancer.avoided,
    trust: (authorities) => (trusted = authorities),
    follow(client, tasks) {
      const only = { namespace: 'default', labelSelector: publishedServersSelector }
      const slices = new Informer(endpointSlice, client.of(endpointSlice), deps, only)
      const isChanged = () => {
        const servers = publishedServers(slices.all())
        if (servers.length === 0 || serversText(servers) === kept) return
        kept = serversText(servers)
        balancer.list(servers)
        files.write(path, kept).catch((error: unknown) => {
          log.warn('the list of API servers cannot be written', { path, error: errorText(error) })
        })
      }
      slices.onChange(isChanged)
      tasks.start('API servers', (stop) => slices.run(stop))
    },
    [Symbol.asyncDispose]: () => balancer[Symbol.asyncDispose](),
  }
}
