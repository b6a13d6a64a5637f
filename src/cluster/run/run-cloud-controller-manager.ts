// A cloud controller manager in its own process: the cloud controllers against any API server, with a provider behind a unix
// socket.
import { errorText, type Log } from '../../base/observability/log.ts'
import { realClock } from '../../base/time/clock.ts'
import { cloudControllers } from '../../cloud/cloud-controllers.ts'
import { externalProvider } from '../../cloud/external/external-provider.ts'
import type { CloudProvider } from '../../cloud/provider/cloud-provider.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { GrpcChannel } from '../../wire/grpc/grpc-channel.ts'
import { controllerManagerComponent } from '../components/controller-manager.ts'
import { runComponent, type ComponentProcessOptions } from './run-component.ts'

export interface RunCloudControllerManagerOptions extends ComponentProcessOptions {
  /** The path of the provider's socket. */
  readonly providerSocket: string
}

const component = 'cloud-controller-manager'
/** How long it waits before it tries to reach the provider again. */
const providerRetryMs = 1_000

/** Runs until the signal is aborted; throws when the lease is lost. */
export async function runCloudControllerManager(
  options: RunCloudControllerManagerOptions,
  signal: AbortSignal,
): Promise<void> {
  const { providerSocket, log } = options
  await using cleanUps = new AsyncDisposableStack()
  const channel = new GrpcChannel({ http2: nodePlatform.http2, clock: realClock, endpoint: `unix:${providerSocket}` })
  cleanUps.defer(() => channel.close())
  const provider = await reachProvider(channel, log, signal)
  if (provider === undefined) return
  const definition = controllerManagerComponent({
    name: component,
    lease: component,
    controllers: (host) => cloudControllers(provider, host),
    settings: () => ({ crypto: nodePlatform.crypto }),
  })
  await runComponent(definition, options, signal)
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
