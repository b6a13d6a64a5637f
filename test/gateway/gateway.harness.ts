// A cluster that serves Gateways on loopback, with a few Services, and what the tests do with it: create objects, wait for
// conditions, send requests.
import type { RequestListener } from 'node:http'
import { namespace } from '../../src/api/core/v1/namespace.ts'
import { secret } from '../../src/api/core/v1/secret.ts'
import { endpointSlice } from '../../src/api/discovery/v1/endpoint-slice.ts'
import { serviceNameLabel } from '../../src/api/discovery/v1/endpoint-slice-labels.ts'
import { service } from '../../src/api/core/v1/service/service.ts'
import type { Condition } from '../../src/api/meta/v1/condition.ts'
import { systemRandom } from '../../src/base/random/random.ts'
import { realClock } from '../../src/base/time/clock.ts'
import { gateway, referenceGrant, type Gateway, type Listener } from '../../src/gateway/kinds/gateway-kinds.ts'
import {
  grpcRoute,
  httpRoute,
  type GrpcRoute,
  type HttpRoute,
  type RouteParentStatus,
} from '../../src/gateway/kinds/route-kinds.ts'
import { Authority } from '../../src/pki/authority.ts'
import { nodePlatform } from '../../src/platform/node/platform.ts'
import {
  send,
  startBackend,
  startIngressCluster,
  type GetOptions,
  type IngressClusterOptions,
} from '../ingress/ingress.harness.ts'
import { until } from '../until.ts'

export const authority = Authority.create('test', {
  clock: realClock,
  random: systemRandom,
  crypto: nodePlatform.crypto,
})

export interface Echoed {
  readonly service: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

export interface GatewayGetOptions extends GetOptions {
  readonly host?: string
  /** Its name, if several Gateways have the port. */
  readonly gateway?: string
}

export type Stage = Awaited<ReturnType<typeof startStage>>

/** Objects are in the namespace `default` unless another is named. */
export async function startStage(choices: Pick<IngressClusterOptions, 'pool'> = {}) {
  const stage = await startIngressCluster({ hasGatewayApi: true, ...choices })
  const { client } = stage
  const cleanUps = new AsyncDisposableStack()
  cleanUps.use(stage)
  await client.of(namespace).create({ metadata: { name: 'other', labels: { team: 'blue' } } })

  const addService = async (name: string, home: string, port: number, appProtocol?: string) => {
    await client
      .of(service)
      .create(
        { metadata: { name }, spec: { ports: [{ name: 'web', port: 80, ...(appProtocol && { appProtocol }) }] } },
        home,
      )
    if (port === 0) return
    await client.of(endpointSlice).create(
      {
        metadata: { name, labels: { [serviceNameLabel]: name } },
        addressType: 'IPv4',
        endpoints: [{ addresses: ['192.0.2.1'], conditions: { ready: true } }],
        ports: [{ name: 'web', port }],
      },
      home,
    )
  }
  const backend = async (name: string, home: string, listener: RequestListener) => {
    const server = cleanUps.use(await startBackend(listener))
    await addService(name, home, server.port)
    return server
  }
  const echo =
    (name: string): RequestListener =>
    (incoming, outgoing) => {
      const { url, headers } = incoming
      outgoing.setHeader('x-endpoint', name)
      outgoing.end(JSON.stringify({ service: name, url, headers }))
    }
  for (const name of ['one', 'two']) await backend(name, 'default', echo(name))
  await backend('three', 'other', echo('three'))
  // The response never begins.
  await backend('slow', 'default', () => {})
  await addService('empty', 'default', 0)

  const issue = (name: string) =>
    authority.issue({ subject: { commonName: name, organizations: [] }, uses: ['server'], dnsNames: [name] })
  const addSecret = async (name: string, home: string, host: string) => {
    const { certificate, key } = issue(host)
    const base64 = (text: string) => Buffer.from(text).toString('base64')
    await client.of(secret).create(
      {
        metadata: { name },
        type: 'kubernetes.io/tls',
        data: { 'tls.crt': base64(certificate), 'tls.key': base64(key) },
      },
      home,
    )
  }

  const addGateway = (name: string, listeners: readonly Listener[], more: Partial<Gateway['spec']> = {}) =>
    client.of(gateway).create({ metadata: { name }, spec: { gatewayClassName: 'coxswain', listeners, ...more } })
  const http = (port: number, more: Partial<Listener> = {}): Listener => ({
    name: `http-${port}`,
    port,
    protocol: 'HTTP',
    ...more,
  })
  /** A Gateway with one listener, and a route to it. */
  const addRoute = async (name: string, spec: HttpRoute['spec'], home = 'default') =>
    client.of(httpRoute).create({ metadata: { name }, spec }, home)
  const addSimple = async (name: string, port: number, rules: NonNullable<HttpRoute['spec']['rules']>) => {
    await addGateway(name, [http(port)])
    await addRoute(name, { parentRefs: [{ name }], rules })
    await routeCondition(name, 'Accepted', 'True')
  }
  const addGrpcRoute = (name: string, spec: GrpcRoute['spec']) =>
    client.of(grpcRoute).create({ metadata: { name }, spec })
  const addGrant = (name: string, home: string, kind: string, to: { kind: string; name?: string }) =>
    client.of(referenceGrant).create(
      {
        metadata: { name },
        spec: {
          from: [{ group: 'gateway.networking.k8s.io', kind, namespace: 'default' }],
          to: [{ group: '', ...to }],
        },
      },
      home,
    )

  /** Waits until a condition has this status, for the current generation; returns it. */
  const settled = async (
    read: () => Promise<{ generation: unknown; found: Condition | undefined }>,
    status: string,
  ) => {
    let last: Condition | undefined
    await until(async () => {
      const { generation, found } = await read()
      last = found
      return found?.status === status && found.observedGeneration === generation
    })
    return last
  }
  const gatewayCondition = (name: string, type: string, status: string) =>
    settled(async () => {
      const { metadata, status: own } = await client.of(gateway).get(name)
      return { generation: metadata.generation, found: own?.conditions?.find((each) => each.type === type) }
    }, status)
  const listenerStatus = async (name: string, index = 0) =>
    (await client.of(gateway).get(name)).status?.listeners?.[index]
  const listenerCondition = (name: string, type: string, status: string, index = 0) =>
    settled(async () => {
      const { metadata, status: own } = await client.of(gateway).get(name)
      const conditions = own?.listeners?.[index]?.conditions
      return { generation: metadata.generation, found: conditions?.find((each) => each.type === type) }
    }, status)
  const routeCondition = (name: string, type: string, status: string, home = 'default') =>
    settled(async () => {
      const { metadata, status: own } = await client.of(httpRoute).get(name, home)
      const parent: RouteParentStatus | undefined = own?.parents[0]
      return { generation: metadata.generation, found: parent?.conditions.find((each) => each.type === type) }
    }, status)

  /** Where a port of listeners is served; the Gateway is named if several have the port. */
  const placeOf = async (port: number, name?: string) => {
    const { items } = await client.of(gateway).list()
    for (const { metadata, spec, status } of items) {
      if (name === undefined ? !spec.listeners.some((each) => each.port === port) : metadata.name !== name) continue
      const host = status?.addresses?.[0]?.value
      const state = host === undefined ? undefined : stage.gateways?.portState(host, port)
      if (host !== undefined && state?.kind === 'open') return { host, port: state.port }
    }
    throw new Error(`port ${port} is not open`)
  }
  const get = async (port: number, path = '/', options: GatewayGetOptions = {}) => {
    const place = await placeOf(port, options.gateway)
    return send(place.port, options.host ?? 'a.example.com', path, { ...options, address: place.host })
  }
  const echoed = async (port: number, path = '/', options: Parameters<typeof get>[2] = {}) => {
    const { status, body } = await get(port, path, options)
    return status === 200 ? (JSON.parse(body) as Echoed) : { service: String(status), url: '', headers: {} }
  }
  /** The Service that responds, or the status. */
  const served = async (port: number, path = '/', options: Parameters<typeof get>[2] = {}) =>
    (await echoed(port, path, options)).service

  return {
    client,
    addService,
    addSecret,
    addGateway,
    addRoute,
    addSimple,
    addGrpcRoute,
    addGrant,
    http,
    placeOf,
    gatewayCondition,
    listenerStatus,
    listenerCondition,
    routeCondition,
    get,
    echoed,
    served,
    cleanUps,
    kubeconfig: stage.kubeconfig,
    [Symbol.asyncDispose]: () => cleanUps.disposeAsync(),
  }
}

export const to = (name: string, more: object = {}) => ({ name, port: 80, ...more })
