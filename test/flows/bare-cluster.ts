// A cluster without nodes, in virtual time, whose record can be read as it is.
import { context } from '../../src/base/context.ts'
import { silentLog } from '../../src/base/log.ts'
import { seededRandom } from '../../src/base/random.ts'
import { VirtualClock } from '../../src/base/virtual-clock.ts'
import { Cluster, type ClusterOptions } from '../../src/cluster/cluster.ts'
import { temporaryCertificates } from '../../src/cluster/pki.ts'
import { clusterPolicies } from '../../src/cluster/policies.ts'
import { nodePlatform } from '../../src/platform/node/platform.ts'
import { MemoryStore } from '../../src/store/memory.ts'

export const ctx = context(new AbortController().signal)

export interface BareCluster extends AsyncDisposable {
  readonly cluster: Cluster
  readonly clock: VirtualClock
  readonly random: ReturnType<typeof seededRandom>
}

export function startBareCluster(options: Partial<ClusterOptions> = {}): BareCluster {
  const [clock, random] = [new VirtualClock(Date.UTC(2030, 0, 1)), seededRandom(1)]
  const certificates = temporaryCertificates({ clock, random, platform: nodePlatform, hosts: [] })
  const { policies } = clusterPolicies({ clock, random, platform: nodePlatform, ...certificates })
  const store = new MemoryStore(clock)
  const controllerSettings = { signer: certificates.signer, authority: certificates.authority }
  const parts = { clock, random, log: silentLog, store, policies, nodes: 0, controllerSettings }
  const cluster = new Cluster({ ...parts, ...options })
  cluster.start()
  return { cluster, clock, random, [Symbol.asyncDispose]: () => cluster.stop() }
}
