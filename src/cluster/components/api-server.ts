// The API server as a component: its caches, the bootstrap objects, and what it publishes about itself.
import { context } from '../../base/observability/context.ts'
import { flowEventsDefault } from '../../base/observability/flow-recorder.ts'
import { realClock } from '../../base/time/clock.ts'
import type { TaskGroup } from '../../base/async/task-group.ts'
import { gatedKinds } from '../../api/kinds.ts'
import { ConversionMetrics } from '../../apiserver/custom-resources/conversion-metrics.ts'
import { flowSchemaReconciler } from '../../apiserver/fairness/flow-schema-reconciler.ts'
import type { FlowRecords } from '../../apiserver/flow-endpoints/flow-records.ts'
import type { KubeletConnection } from '../../apiserver/kubelet-client/kubelet-connection.ts'
import { ServerMetrics } from '../../apiserver/metrics/server-metrics.ts'
import { RequestMetrics } from '../../apiserver/request/request-metrics.ts'
import { ApiServer } from '../../apiserver/server.ts'
import type { ApiServerDeps } from '../../apiserver/server-deps.ts'
import { serviceRangesDefault } from '../../apiserver/strategies/service/service-ranges.ts'
import { nodeCrypto } from '../../platform/node/crypto.ts'
import { nodeOutbound } from '../../platform/node/http/outbound.ts'
import type { DecisionRecord } from '../../scheduler/cycle/decision-record.ts'
import { bootstrapCluster, bootstrapObjects } from '../bootstrap/bootstrap-objects.ts'
import { installCsiDriver } from '../bootstrap/csi-sidecars.ts'
import { installGatewayApi } from '../bootstrap/gateway-api.ts'
import { grantLease } from '../bootstrap/leader-election.ts'
import type { ServerEndpoints } from '../bootstrap/server-endpoints.ts'
import { installVolumeSnapshots } from '../bootstrap/volume-snapshots.ts'
import { apiServerUser, csiSidecarsUser, ingressUser, snapshotControllerUser } from '../client/component-users.ts'
import { decisionOfPeers } from '../peers/peer-decisions.ts'
import { PeerDiscovery } from '../peers/peer-discovery.ts'
import { PeerFlowRecords } from '../peers/peer-flow-records.ts'
import type { PeerServers } from '../peers/peer-servers.ts'
import { trackLegacyTokens } from '../policy/legacy-token-tracking.ts'
import { uiExplanations } from '../ui/ui-explanations.ts'
import { uiFiles } from '../ui/ui-files.ts'
import { Component } from './component.ts'
import type { ComponentContext } from './component-context.ts'
import { ingressLease } from './ingress.ts'
import { snapshotControllerLease } from './storage.ts'

/** The name of the component, and of its requests to itself. */
export const apiServerName = 'apiserver'

export interface ApiServerParts {
  readonly kubelets: KubeletConnection
  readonly decisions: DecisionRecord
  readonly serverEndpoints: ServerEndpoints
  /** Called with each server that starts, and with undefined when it stops. */
  onServer(server: ApiServer | undefined): void
  /** The caches are filled, and the bootstrap objects exist. */
  onReady(): void
}

export function apiServerComponent(cluster: ComponentContext, parts: ApiServerParts): Component {
  const { options } = cluster
  const { clock, log } = options
  const peers = options.peers?.(cluster.client(apiServerName, apiServerUser))
  const records = peers && peerRecords(cluster, peers)
  const discovery =
    peers === undefined || options.hasNoPeerProxy === true ? undefined : new PeerDiscovery({ peers, clock, log })
  const newDeps = apiServerDeps(cluster, parts, { peers, records, discovery })
  return new Component(apiServerName, options, (tasks) => {
    const { newApiServer = (own) => new ApiServer(own) } = options
    const server = newApiServer(newDeps())
    parts.onServer(server)
    tasks.signal.addEventListener('abort', () => parts.onServer(undefined), { once: true })
    if (records !== undefined) tasks.start('flow records', (signal) => records.run(signal))
    if (discovery !== undefined) tasks.start('peer discovery', (signal) => discovery.run(signal))
    tasks.start('caches', (signal) => server.run(signal, () => afterCaches(cluster, parts, server, tasks)))
  })
}

function peerRecords({ options, flow }: ComponentContext, peers: PeerServers): PeerFlowRecords {
  const { clock, random, flowEvents = flowEventsDefault } = options
  return new PeerFlowRecords({
    own: flow,
    events: flowEvents,
    peers,
    clock,
    random: random.fork('flow-records'),
    crypto: nodeCrypto,
  })
}

interface PeerDeps {
  readonly peers: PeerServers | undefined
  readonly records: FlowRecords | undefined
  readonly discovery: PeerDiscovery | undefined
}

function apiServerDeps(
  cluster: ComponentContext,
  { kubelets, decisions }: ApiServerParts,
  { peers, records, discovery }: PeerDeps,
): () => ApiServerDeps {
  const { options, flow, metrics } = cluster
  const { clock, random, log, store, advertisesAddOns = false, serviceRanges = serviceRangesDefault } = options
  const { policies, proxyIdentity, kmsCheck, stepClock, coordinatedElection, uiPort = () => undefined } = options
  const requestMetrics = new RequestMetrics(metrics)
  const serverMetrics = new ServerMetrics(metrics)
  const conversionMetrics = new ConversionMetrics(metrics)
  const files = uiFiles()
  return () => ({
    store,
    clock,
    random: random.fork('apiserver'),
    flow,
    records,
    log,
    policies,
    kubelets,
    serviceRanges,
    metrics,
    requestMetrics,
    serverMetrics,
    conversionMetrics,
    advertisesAddOns,
    proxyIdentity,
    kmsCheck,
    bootstrapObjects,
    peers: discovery,
    gatedKinds: coordinatedElection === undefined ? [] : gatedKinds,
    reconcilers: [flowSchemaReconciler],
    digest: (text) => nodeCrypto.sha256(text).toHex().toUpperCase(),
    explain: (podKey) => decisions.explain(podKey),
    explainElsewhere: peers && ((podKey, signal) => decisionOfPeers(podKey, peers, clock, signal)),
    outbound: nodeOutbound,
    ui: {
      files,
      port: uiPort,
      clock: realClock,
      stepClock,
      explanations: uiExplanations({ clock, clientAs: (user) => cluster.client('Web UI', user) }),
    },
  })
}

function afterCaches(cluster: ComponentContext, parts: ApiServerParts, server: ApiServer, tasks: TaskGroup): void {
  const { log, tokenUses } = cluster.options
  tasks.start('bootstrap', async (stop) => {
    await server.registry.repair(stop)
    await installObjects(cluster, stop)
    parts.onReady()
  })
  tasks.start('server endpoints', (stop) => parts.serverEndpoints.run(stop))
  if (tokenUses !== undefined)
    tasks.start('legacy token tracking', (stop) =>
      trackLegacyTokens(cluster.client(apiServerName, apiServerUser), tokenUses, log, context(stop)),
    )
}

async function installObjects(cluster: ComponentContext, signal: AbortSignal): Promise<void> {
  const { clock, csi, hasVolumeSnapshots, hasGatewayApi, serviceRanges = serviceRangesDefault } = cluster.options
  const { identity } = cluster.options
  const client = cluster.client(apiServerName, apiServerUser)
  await bootstrapCluster(client, clock, serviceRanges, context(signal))
  if (csi !== undefined) await installCsiDriver(client, csi.config, csiSidecarsUser.name, context(signal))
  if (hasGatewayApi === true) await installGatewayApi(client, context(signal))
  if (identity !== undefined) {
    await grantLease(client, ingressLease, ingressUser.name, context(signal))
    await grantLease(client, snapshotControllerLease, snapshotControllerUser.name, context(signal))
  }
  if (hasVolumeSnapshots === true) await installVolumeSnapshots(client, snapshotControllerUser.name, context(signal))
}
