// Starts the ingress controller of a cluster: its class, its permissions, the fallback certificate and the proxy.
import { createPrivateKey, X509Certificate } from 'node:crypto'
import type { TaskGroup } from '../../base/async/task-group.ts'
import { unlessAborted } from '../../base/async/unless-aborted.ts'
import { context } from '../../base/observability/context.ts'
import type { FlowRecorder } from '../../base/observability/flow-recorder.ts'
import type { Log } from '../../base/observability/log.ts'
import type { Random } from '../../base/random/random.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Client } from '../../client/client.ts'
import { Informers } from '../../client/informer/informers.ts'
import { service } from '../../api/core/v1/service/service.ts'
import { endpointSlice } from '../../api/discovery/v1/endpoint-slice.ts'
import { startDataPlane, type DataPlaneDeps, type DataPlaneSettings } from '../../ingress/data-plane/data-plane.ts'
import type { IngressMetrics } from '../../ingress/data-plane/ingress-metrics.ts'
import {
  startIngressController,
  type IngressController,
  type IngressSettings,
} from '../../ingress/ingress-controller.ts'
import {
  startGatewayController,
  type GatewayController,
  type GatewaySettings,
} from '../../gateway/gateway-controller.ts'
import { Authority } from '../../pki/authority.ts'
import { nodeHttpPools } from '../../platform/node/http/http-pool.ts'
import type { Platform } from '../../platform/platform.ts'
import { publishGatewayClass } from '../bootstrap/gateway-api.ts'
import { publishIngressClass } from '../bootstrap/ingress-class.ts'
import { ingressUser } from '../client/component-users.ts'

export interface StartIngressOptions {
  readonly client: Client
  /** May create the class and the role of the controller. */
  readonly publisher: Client
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly flow: FlowRecorder
  readonly metrics: IngressMetrics
  readonly platform: Platform
  readonly settings: IngressSettings & Omit<DataPlaneSettings, 'fallback'>
  /** Serves Gateways too; the definitions must be installed. */
  readonly gateways?: Pick<GatewaySettings, 'balancerTarget' | 'boundPort'> | undefined
  /** Connections to endpoints; by default over the network of this machine. */
  readonly connections?: Partial<Pick<DataPlaneDeps, 'http1' | 'http2' | 'outbound' | 'sockets'>>
}

export interface StartedIngress {
  readonly ingress: IngressController
  readonly gateways: GatewayController | undefined
}

/** Resolves when the Ingresses and Gateways that existed are served. It ends with the tasks. */
export async function startIngress(options: StartIngressOptions, tasks: TaskGroup): Promise<StartedIngress> {
  const { client, publisher, clock, random, log, flow, metrics, platform, settings, connections = {} } = options
  await publishIngressClass(publisher, ingressUser.name, context(tasks.signal))
  const informers = new Informers(client, { clock, random, log }, tasks)
  const common = { clock, random, log, flow }
  const dataPlane = startDataPlane(
    {
      ...common,
      metrics,
      services: informers.of(service),
      endpointSlices: informers.of(endpointSlice),
      listeners: platform.listeners,
      http1: connections.http1 ?? nodeHttpPools,
      http2: connections.http2 ?? platform.http2,
      outbound: connections.outbound ?? platform.outbound,
      sockets: connections.sockets ?? platform.sockets,
    },
    { ...settings, fallback: fallbackCertificate(clock, random, platform) },
    tasks,
  )
  const deps = { ...common, metrics, client, informers, dataPlane, isKeyPair, isCertificates }
  const ingress = startIngressController(deps, settings, tasks)
  await unlessAborted(ingress.synced, tasks.signal)
  if (options.gateways === undefined) return { ingress, gateways: undefined }
  const hasLoadBalancers = options.gateways.balancerTarget !== undefined
  await publishGatewayClass(publisher, ingressUser.name, hasLoadBalancers, context(tasks.signal))
  const addresses = gatewayAddresses(settings.addresses.flatMap(({ ip }) => ip ?? []))
  const gateways = startGatewayController(deps, { ...options.gateways, addresses }, tasks)
  await unlessAborted(gateways.synced, tasks.signal)
  return { ingress, gateways }
}

const loopbackAddress = '127.0.0.1'
/** From 127.0.0.1 to 127.0.0.254. */
const loopbackAddressesMax = 254

/** All addresses 127.0.0.0/8 are those of the machine, so each Gateway can have one of its own. */
const gatewayAddresses = (own: readonly string[]): readonly string[] =>
  own[0] === loopbackAddress ? Array.from({ length: loopbackAddressesMax }, (_, index) => `127.0.0.${index + 1}`) : own

/** For clients that name no known server. No client trusts it. */
function fallbackCertificate(clock: Clock, random: Random, { crypto }: Platform) {
  const authority = Authority.create('coxswain-ingress-fallback', { clock, random: random.fork('fallback'), crypto })
  const name = 'ingress.invalid'
  return authority.issue({ subject: { commonName: name, organizations: [] }, uses: ['server'], dnsNames: [name] })
}

const certificateBlock = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g

export function isCertificates(text: string): boolean {
  try {
    const certificates = (text.match(certificateBlock) ?? []).map((block) => new X509Certificate(block))
    return certificates.length > 0
  } catch {
    return false
  }
}

export function isKeyPair(certificate: string, key: string): boolean {
  try {
    return new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key))
  } catch {
    return false
  }
}
