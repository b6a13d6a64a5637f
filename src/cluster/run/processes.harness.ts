// Several processes of a cluster on one store, in virtual time.
import { silentLog } from '../../base/observability/log.ts'
import { Metrics } from '../../base/observability/metrics.ts'
import { seededRandom } from '../../base/random/random.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { MemoryStore } from '../../store/memory-store.ts'
import { temporaryCertificates } from '../certificates/cluster-certificates.ts'
import { adminUser } from '../client/component-users.ts'
import type { ClusterOptions } from '../components/cluster-options.ts'
import { buildRequestPolicies } from '../policy/request-policies.ts'
import { Cluster } from './cluster.ts'

/** A process that ends leaves it open for the others. */
class SharedStore extends MemoryStore {
  override close(): Promise<void> {
    return Promise.resolve()
  }
}

export class Processes implements AsyncDisposable {
  readonly clock = new VirtualClock()
  readonly #store = new SharedStore(this.clock)
  readonly #running = new Set<Cluster>()
  #seed = 1

  async start(own: Partial<ClusterOptions>): Promise<Cluster> {
    const { clock } = this
    const options = { clock, random: seededRandom(this.#seed++), log: silentLog, nodes: 1, ...own }
    const certificates = temporaryCertificates({ ...options, platform: nodePlatform, hosts: [] })
    const { policies } = buildRequestPolicies({ ...options, ...certificates, platform: nodePlatform })
    const controllerSettings = { certificateAuthority: () => certificates.authority }
    const metrics = new Metrics()
    const cluster = new Cluster({ ...options, controllerSettings, metrics, policies, store: this.#store })
    this.#running.add(cluster)
    cluster.start()
    await clock.settle()
    await cluster.ready
    return cluster
  }

  async end(cluster: Cluster, how: 'stop' | 'crash'): Promise<void> {
    this.#running.delete(cluster)
    const ended = cluster[how]()
    // Tasks that sleep end when their signal is aborted.
    await this.clock.settle()
    await ended
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const cluster of this.#running) await this.end(cluster, 'crash')
  }
}

export const clientOf = (cluster: Cluster) => cluster.client('test', adminUser)
