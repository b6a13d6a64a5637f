// A controller manager in its own process: connects over HTTPS with a kubeconfig, with leader election.
import { hostname } from 'node:os'
import { controllersSender } from '../../api/coxswain/v1/flow-protocol.ts'
import { realClock } from '../../base/time/clock.ts'
import { FlowRecorder } from '../../base/observability/flow-recorder.ts'
import { newUid } from '../../base/random/ids.ts'
import type { Log } from '../../base/observability/log.ts'
import { Metrics } from '../../base/observability/metrics.ts'
import { systemRandom } from '../../base/random/random.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import { legacyTokenIssuer } from '../../apiserver/authentication/legacy-service-account-tokens.ts'
import { managerAccount, type Controller } from '../../controllers/runtime/controller.ts'
import { controllerMetrics } from '../../controllers/runtime/start-controller.ts'
import { Authority, type Identity } from '../../pki/authority.ts'
import { registerComponentMetrics } from './component-metrics.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { signingDurationMs } from '../flags/signing-duration.ts'
import { controllerTokens, ServiceAccountCredentials } from '../client/service-account-credentials.ts'
import { serveComponent } from './component-server.ts'
import type { ControllerManagerSettings } from '../flags/controller-manager-flags.ts'
import { startControllerManager } from '../components/controller-manager.ts'
import { directoryRemover } from './host-directories.ts'
import { nodeRangesOf, type NodeRangeFlagValues } from '../flags/node-ranges.ts'
import { ClientMetrics } from '../../client/transport/client-metrics.ts'
import { openRemote } from '../client/remote.ts'
import { joinAndRelease } from './join-and-release.ts'

export interface RunControllerManagerOptions extends Partial<ControllerManagerSettings> {
  readonly kubeconfig: string
  readonly log: Log
  /** Flags for pod addresses; without them no ranges are assigned. */
  readonly nodeRangeFlags?: NodeRangeFlagValues
  /** Validity of the certificates that it signs: `8760h`. */
  readonly signingDuration?: string | undefined
  /** The authority that signs certificates; without it none are signed. */
  readonly signing?: Identity
  /** The key for legacy tokens, as PEM; without it none are created. */
  readonly accountKey?: string
  /** The authority that pods use to verify the API server, as PEM; by default the one of the kubeconfig. */
  readonly rootAuthority?: string
  /** The files that it was started with, which are not removed with the directory of a volume. */
  readonly files?: readonly string[]
  /** Called with the port when health and metrics are served. */
  readonly onServe?: (port: number) => void
  /** Called when this manager becomes the leader. */
  readonly onLead: () => void
}

/** How long open requests may take during the stop. */
const drainMs = 1_000

/** Runs until the signal is aborted; throws when the lease is lost. */
export async function runControllerManager(options: RunControllerManagerOptions, signal: AbortSignal): Promise<void> {
  const { kubeconfig, log, nodeRangeFlags = {}, signing, signingDuration, onLead } = options
  const { serve, hasAccounts = true, legacyTokenCleanUpMs, horizontalPodAutoscaler, lease } = options
  const nodeRanges = nodeRangesOf(nodeRangeFlags, { isOn: false, clusterCidr: '' })
  const authorityParts = { clock: realClock, random: systemRandom, crypto: nodePlatform.crypto }
  const accountKey = options.accountKey === undefined ? undefined : nodePlatform.crypto.loadKey(options.accountKey)
  const signer = signing === undefined ? {} : { signer: Authority.load(signing, authorityParts) }
  await using cleanUps = new AsyncDisposableStack()
  const metrics = new Metrics()
  const remote = cleanUps.use(await openRemote(kubeconfig, signal, new ClientMetrics(metrics, realClock)))
  const { clientAs, exportFlow } = remote
  const authority = options.rootAuthority ?? remote.authority
  if (serve !== undefined) {
    registerComponentMetrics(metrics, cleanUps.use(nodePlatform.processStats.start()))
    const listener = await serveComponent({ ...serve, metrics, clock: realClock, client: clientAs(controllersSender) })
    cleanUps.defer(() => listener.close(drainMs))
    options.onServe?.(listener.port)
  }
  const accounts = new ServiceAccountCredentials(controllerTokens(clientAs(controllersSender)), realClock)
  const clientOf = ({ name, account }: Controller) =>
    hasAccounts && account !== managerAccount
      ? remote.clientWith(`controller/${name}`, accounts.of(account))
      : clientAs(`controller/${name}`)
  const tasks = new TaskGroup({ signal })
  const flow = new FlowRecorder(realClock)
  tasks.start('flow', (stop) => exportFlow(flow, log, stop))
  const manager = startControllerManager(tasks, {
    clock: realClock,
    random: systemRandom,
    log,
    flow,
    metrics: controllerMetrics(metrics),
    settings: {
      crypto: nodePlatform.crypto,
      removeDirectory: directoryRemover(nodePlatform.files, options.files ?? []),
      nodeRanges,
      certificateLifetimeMs: signingDurationMs(signingDuration),
      ...(legacyTokenCleanUpMs === undefined ? {} : { legacyTokenCleanUpMs }),
      ...(horizontalPodAutoscaler === undefined ? {} : { horizontalPodAutoscaler }),
      ...signer,
      ...(accountKey === undefined ? {} : { legacyTokens: legacyTokenIssuer(accountKey, nodePlatform.crypto) }),
      ...(authority === undefined ? {} : { certificateAuthority: authority }),
    },
    client: clientAs(controllersSender),
    clientOf,
    ...(lease === 'none' ? {} : { identity: `${hostname()}_${newUid(systemRandom)}`, ...(lease && { lease }) }),
    onLead,
  })
  await joinAndRelease(tasks, manager, realClock)
}
