// A cloud controller manager in its own process: the cloud controllers against any API server, with leader election, and with
// a provider behind a unix socket.
import { hostname } from 'node:os'
import { realClock } from '../../base/time/clock.ts'
import { FlowRecorder } from '../../base/observability/flow-recorder.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import { Metrics } from '../../base/observability/metrics.ts'
import { newUid } from '../../base/random/ids.ts'
import { systemRandom } from '../../base/random/random.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import type { LeaseSettings } from '../../client/leader-election.ts'
import { cloudControllers } from '../../cloud/cloud-controllers.ts'
import { externalProvider } from '../../cloud/external/external-provider.ts'
import type { CloudProvider } from '../../cloud/provider/cloud-provider.ts'
import { controllerMetrics } from '../../controllers/runtime/start-controller.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { GrpcChannel } from '../../wire/grpc/grpc-channel.ts'
import { openRemote } from '../client/remote.ts'
import { startControllerManager } from '../components/controller-manager.ts'
import { joinAndRelease } from './join-and-release.ts'

export interface RunCloudControllerManagerOptions {
  readonly kubeconfig: string
  /** The path of the provider's socket. */
  readonly providerSocket: string
  readonly lease: LeaseSettings | 'none'
  readonly log: Log
  /** Called when this manager becomes the leader. */
  readonly onLead: () => void
}

const component = 'cloud-controller-manager'
/** How long it waits before it tries to reach the provider again. */
const providerRetryMs = 1_000

/** Runs until the signal is aborted; throws when the lease is lost. */
export async function runCloudControllerManager(
  options: RunCloudControllerManagerOptions,
  signal: AbortSignal,
): Promise<void> {
  const { kubeconfig, providerSocket, lease, log, onLead } = options
  await using cleanUps = new AsyncDisposableStack()
  const remote = cleanUps.use(await openRemote(kubeconfig, signal))
  const channel = new GrpcChannel({ http2: nodePlatform.http2, clock: realClock, endpoint: `unix:${providerSocket}` })
  cleanUps.defer(() => channel.close())
  const provider = await reachProvider(channel, log, signal)
  if (provider === undefined) return
  const tasks = new TaskGroup({ signal })
  const flow = new FlowRecorder(realClock)
  tasks.start('flow', (stop) => remote.exportFlow(flow, log, stop))
  const manager = startControllerManager(tasks, {
    ...{ clock: realClock, random: systemRandom, log, flow, onLead },
    metrics: controllerMetrics(new Metrics()),
    settings: { crypto: nodePlatform.crypto },
    client: remote.clientAs(component),
    clientOf: ({ name }) => remote.clientAs(`controller/${name}`),
    controllers: cloudControllers(provider, { clock: realClock, flow }),
    leaseName: component,
    ...(lease === 'none' ? {} : { identity: `${hostname()}_${newUid(systemRandom)}`, lease }),
  })
  await joinAndRelease(tasks, manager, realClock)
}

/** Waits until the provider runs; undefined if the signal is aborted before. */
async function reachProvider(channel: GrpcChannel, log: Log, signal: AbortSignal): Promise<CloudProvider | undefined> {
  while (!signal.aborted)
    try {
      return await externalProvider(channel, signal)
    } catch (error) {
      if (signal.aborted) break
      log.warn('the cloud provider does not respond', { error: errorText(error) })
      await realClock.sleep(providerRetryMs, signal).catch(() => undefined)
    }
  return undefined
}
