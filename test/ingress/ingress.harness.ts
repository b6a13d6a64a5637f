// A cluster with an ingress controller on loopback ports, and servers in this process as endpoints. EndpointSlices must not
// contain loopback addresses, so the endpoints have addresses for documentation (192.0.2.0/24), which connections map to
// loopback.
import { createServer, request, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import { request as requestSecure } from 'node:https'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { endpointSlice } from '../../src/api/discovery/v1/endpoint-slice.ts'
import { serviceNameLabel } from '../../src/api/discovery/v1/endpoint-slice-labels.ts'
import { service } from '../../src/api/core/v1/service/service.ts'
import { TaskGroup } from '../../src/base/async/task-group.ts'
import { silentLog, type Log } from '../../src/base/observability/log.ts'
import { systemRandom } from '../../src/base/random/random.ts'
import { realClock } from '../../src/base/time/clock.ts'
import type { Client } from '../../src/client/client.ts'
import { adminUser, apiServerUser, ingressUser } from '../../src/cluster/client/component-users.ts'
import { startIngress } from '../../src/cluster/node/start-ingress.ts'
import { serveCluster } from '../../src/cluster/run/served-cluster.harness.ts'
import { ingressMetrics } from '../../src/ingress/data-plane/ingress-metrics.ts'
import { nodeHttpPools } from '../../src/platform/node/http/http-pool.ts'
import { nodePlatform } from '../../src/platform/node/platform.ts'
import type { Platform } from '../../src/platform/platform.ts'
import type { Peer } from '../../src/platform/sockets/sockets.ts'

const loopback = '127.0.0.1'
const toLoopback = (url: string): string => url.replace(/\b192\.0\.2\.\d+\b/, '127.0.0.1')

/** Connections to endpoints, with their addresses mapped to loopback. */
async function loopbackConnections() {
  const { http2, outbound, sockets } = nodePlatform
  const pools = nodeHttpPools
  return {
    http1: {
      open: (options: Parameters<typeof pools.open>[0]) =>
        pools.open({ ...options, server: { ...options.server, address: '127.0.0.1' } }),
    },
    http2: {
      connect: (options: Parameters<typeof http2.connect>[0], signal: AbortSignal) =>
        http2.connect({ ...options, endpoint: toLoopback(options.endpoint) }, signal),
    },
    outbound: {
      exchange: (...[options, sent, signal]: Parameters<typeof outbound.exchange>) =>
        outbound.exchange({ ...options, origin: toLoopback(options.origin) }, sent, signal),
    },
    sockets: {
      ...sockets,
      connectStream: ({ port }: Peer, signal: AbortSignal) =>
        sockets.connectStream({ address: loopback, port }, signal),
    },
  }
}

const balancerTarget = { address: '192.0.2.1', nodeName: 'node-0' }
const loopbackPlatform: Platform = {
  ...nodePlatform,
  listeners: {
    ...nodePlatform.listeners,
    listen: (options) => nodePlatform.listeners.listen({ ...options, host: toLoopback(options.host) }),
  },
}

export interface IngressClusterOptions {
  readonly log?: Log
  /** With Gateways, the ports of listeners are mapped to free ports. */
  readonly hasGatewayApi?: boolean
  /** A pool of addresses for load balancers of Gateways, which lead to 192.0.2.1; there, the proxy listens on loopback. */
  readonly pool?: string
  /** The address of the proxy. If it is not loopback, endpoints are called at their own addresses. */
  readonly host?: string
}

export async function startIngressCluster(options: IngressClusterOptions = {}) {
  const { log = silentLog, hasGatewayApi = false, host = loopback, pool } = options
  const served = await serveCluster({
    nodes: 0,
    hasGatewayApi,
    ...(pool === undefined ? {} : { loadBalancers: { addresses: pool } }),
  })
  const tasks = new TaskGroup()
  const { cluster } = served
  const { ingress, gateways } = await startIngress(
    {
      client: cluster.client('ingress', ingressUser),
      publisher: cluster.client('apiserver', apiServerUser),
      clock: realClock,
      random: systemRandom,
      log,
      flow: cluster.flow,
      metrics: ingressMetrics(cluster.metrics),
      platform: pool === undefined ? nodePlatform : loopbackPlatform,
      gateways: hasGatewayApi ? { boundPort: () => 0, ...(pool === undefined ? {} : { balancerTarget }) } : undefined,
      connections: host === loopback ? await loopbackConnections() : {},
      settings: { host, httpPort: 0, httpsPort: 0, accessLog: 'all', addresses: [{ ip: host }] },
    },
    tasks,
  )
  const portOf = (which: 'http' | 'https') => {
    const state = ingress.ports[which]
    if (state?.kind !== 'open') throw new Error(`the ${which} port is not open`)
    return state.port
  }
  return {
    cluster,
    kubeconfig: served.kubeconfig,
    client: cluster.client('test', adminUser),
    httpPort: portOf('http'),
    httpsPort: portOf('https'),
    gateways,
    async [Symbol.asyncDispose]() {
      await tasks[Symbol.asyncDispose]()
      await served[Symbol.asyncDispose]()
    },
  }
}

export async function startBackend(listener: RequestListener, server: Server = createServer(listener)) {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    server,
    port: (server.address() as AddressInfo).port,
    connections: () =>
      new Promise<number>((resolve) => server.getConnections((_error, connections) => resolve(connections))),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** A Service whose endpoints have these ports. */
export async function publishService(
  client: Client,
  name: string,
  ports: readonly number[],
  appProtocol?: string,
): Promise<void> {
  await client
    .of(service)
    .create({ metadata: { name }, spec: { ports: [{ name: 'web', port: 80, ...(appProtocol && { appProtocol }) }] } })
  for (const port of ports) await addEndpoint(client, name, port)
}

/** One slice for each endpoint, because the endpoints have different ports. */
export const addEndpoint = (client: Client, name: string, port: number) =>
  client.of(endpointSlice).create({
    metadata: { name: `${name}-${port}`, labels: { [serviceNameLabel]: name } },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['192.0.2.1'], conditions: { ready: true } }],
    ports: [{ name: 'web', port }],
  })

export const removeEndpoint = (client: Client, name: string, port: number) =>
  client.of(endpointSlice).delete(`${name}-${port}`, 'default')

export interface Got {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

export interface GetOptions {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** The certificate authority; the request uses HTTPS then. */
  readonly ca?: string
  /** Of the proxy. */
  readonly address?: string
}

/** A request on a new connection. */
export function send(port: number, host: string, path: string, options: GetOptions = {}): Promise<Got> {
  const { method = 'GET', headers = {}, body, ca, address = loopback } = options
  const common = { host: address, port, path, method, headers: { host, ...headers }, agent: false }
  return new Promise((resolve, reject) => {
    const sent = ca === undefined ? request(common) : requestSecure({ ...common, ca, servername: host })
    sent.on('error', reject)
    sent.on('response', (response) => {
      const pieces: Buffer[] = []
      response.on('data', (piece: Buffer) => pieces.push(piece))
      response.on('error', reject)
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(pieces).toString(),
        }),
      )
    })
    sent.end(body)
  })
}
