// up: a cluster on this machine until it is told to stop. Progress goes to `say`, one line each.
import { realClock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import { systemRandom } from '../base/random.ts'
import { nodePlatform } from '../platform/node/platform.ts'
import type { SchedulerConfiguration } from '../scheduler/configuration.ts'
import { Cluster } from './cluster.ts'
import { lockDirectory } from './lock.ts'
import { openStore, type StoreChoice } from './open-store.ts'
import { clusterCertificates } from './pki.ts'
import { serve } from './serve.ts'

export interface UpOptions {
  readonly dataFolder: string
  readonly kubeconfigPath: string
  readonly store: StoreChoice
  readonly host: string
  readonly port: number
  readonly nodes: number
  readonly log: Log
  readonly schedulerConfiguration?: SchedulerConfiguration
}

/** How long answers under way may take when the cluster stops. */
const drainMs = 1_000

export interface Running extends AsyncDisposable {
  readonly url: string
}

export async function up({
  dataFolder,
  kubeconfigPath,
  store,
  host,
  port,
  nodes,
  log,
  schedulerConfiguration = {},
}: UpOptions): Promise<Running> {
  const platform = nodePlatform
  await platform.files.makeFolder(dataFolder)
  const cleanUps = new AsyncDisposableStack()
  try {
    cleanUps.use(await lockDirectory(dataFolder))
    const openedStore = await openStore(store, dataFolder)
    cleanUps.defer(() => openedStore.close())
    const certificates = await clusterCertificates(`${dataFolder}/pki`, platform, realClock, systemRandom)
    const cluster = new Cluster({
      clock: realClock,
      random: systemRandom,
      log,
      store: openedStore,
      nodes,
      schedulerConfiguration,
    })
    cleanUps.defer(() => cluster.stop())
    cluster.start()
    const served = await serve(cluster, { host, port, certificates, platform, clock: realClock, log })
    cleanUps.defer(() => served.close(drainMs))
    await platform.files.write(kubeconfigPath, served.kubeconfig)
    await cluster.ready
    await cluster.publish(served.host, served.port, new AbortController().signal)
    return { url: served.url, [Symbol.asyncDispose]: () => cleanUps.disposeAsync() }
  } catch (error) {
    await cleanUps.disposeAsync()
    throw error
  }
}
