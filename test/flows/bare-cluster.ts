// A cluster without nodes in virtual time, with direct access to its flow record.
import { context } from '../../src/base/observability/context.ts'
import { silentLog } from '../../src/base/observability/log.ts'
import { seededRandom } from '../../src/base/random/random.ts'
import { VirtualClock } from '../../src/base/time/virtual-clock.ts'
import type { ClusterOptions } from '../../src/cluster/components/cluster-options.ts'
import { Cluster } from '../../src/cluster/run/cluster.ts'
import { temporaryCertificates } from '../../src/cluster/certificates/cluster-certificates.ts'
import { buildRequestPolicies } from '../../src/cluster/policy/request-policies.ts'
import { nodePlatform } from '../../src/platform/node/platform.ts'
import { MemoryStore } from '../../src/store/memory-store.ts'

export const ctx = context(new AbortController().signal)

export interface BareCluster extends AsyncDisposable {
  readonly cluster: Cluster
  readonly clock: VirtualClock
  readonly random: ReturnType<typeof seededRandom>
}

export function startBareCluster(options: Partial<ClusterOptions> = {}): BareCluster {
  const clock = new VirtualClock(Date.UTC(2030, 0, 1))
  const random = seededRandom(1)
  const certificates = temporaryCertificates({ clock, random, platform: nodePlatform, hosts: [] })
  const { policies } = buildRequestPolicies({ clock, random, platform: nodePlatform, ...certificates })
  const store = new MemoryStore(clock)
  const controllerSettings = { signer: certificates.signer, certificateAuthority: () => certificates.authority }
  const deps = { clock, random, log: silentLog, store, policies, nodes: 0, controllerSettings }
  const cluster = new Cluster({ ...deps, ...options })
  cluster.start()
  return { cluster, clock, random, [Symbol.asyncDispose]: () => cluster.stop() }
}
