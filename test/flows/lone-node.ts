// A cluster whose one kubelet stands beside it, with what simulated nodes do without: volumes on a disk, and manifests.
import { context } from '../../src/base/context.ts'
import { silentLog } from '../../src/base/log.ts'
import { seededRandom } from '../../src/base/random.ts'
import { TaskGroup } from '../../src/base/task-group.ts'
import { VirtualClock } from '../../src/base/virtual-clock.ts'
import type { Client } from '../../src/client/client.ts'
import { Cluster } from '../../src/cluster/cluster.ts'
import { adminUser, nodeUser } from '../../src/cluster/identities.ts'
import { temporaryCertificates } from '../../src/cluster/pki.ts'
import { clusterPolicies } from '../../src/cluster/policies.ts'
import { simulatedHost } from '../../src/cluster/simulated-host.ts'
import { lifeOf } from '../../src/flows/flow-graph.ts'
import { textDiagram } from '../../src/flows/text-diagram.ts'
import { Kubelet } from '../../src/kubelet/kubelet.ts'
import type { NodeHost } from '../../src/kubelet/node-host.ts'
import { solo } from '../../src/kubelet/solo.harness.ts'
import { SimulatedRuntime } from '../../src/machine/runtime/simulated.ts'
import { nodePlatform } from '../../src/platform/node/platform.ts'
import { MemoryStore } from '../../src/store/memory.ts'

export const ctx = context(new AbortController().signal)

export interface LoneNode extends AsyncDisposable {
  readonly clock: VirtualClock
  readonly admin: Client
  readonly host: NodeHost
  readonly runtime: SimulatedRuntime
  flowOf(resource: string, name: string): string
}

export async function startLoneNode(hostChanges: Partial<NodeHost>): Promise<LoneNode> {
  const [clock, random] = [new VirtualClock(Date.UTC(2030, 0, 1)), seededRandom(1)]
  const certificates = temporaryCertificates({ clock, random, platform: nodePlatform, hosts: [] })
  const { policies } = clusterPolicies({ clock, random, platform: nodePlatform, ...certificates })
  const store = new MemoryStore(clock)
  const controllerSettings = { signer: certificates.signer, authority: certificates.authority }
  const cluster = new Cluster({ clock, random, log: silentLog, store, policies, nodes: 0, controllerSettings })
  cluster.start()
  const runtime = new SimulatedRuntime(clock, random)
  const host = { ...simulatedHost(runtime), ...hostChanges }
  const client = cluster.client(`kubelet/${solo.name}`, nodeUser(solo.name))
  const tasks = new TaskGroup()
  await clock.advance('1s')
  new Kubelet({ client, runtime, clock, random, flow: cluster.flow, log: silentLog, description: solo, host }).start(
    tasks,
  )
  await clock.advance('5s')
  return {
    clock,
    admin: cluster.client('admin', adminUser),
    host,
    runtime,
    flowOf: (resource, name) => textDiagram(lifeOf(cluster.flow.events(), { resource, namespace: 'default', name })),
    async [Symbol.asyncDispose]() {
      await tasks[Symbol.asyncDispose]()
      await cluster.stop()
    },
  }
}
