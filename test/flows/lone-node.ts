// A cluster with one separate kubelet that has what simulated nodes lack: volumes on a disk, and static pod manifests.
import { silentLog } from '../../src/base/observability/log.ts'
import { TaskGroup } from '../../src/base/async/task-group.ts'
import type { VirtualClock } from '../../src/base/time/virtual-clock.ts'
import type { Client } from '../../src/client/client.ts'
import { adminUser, nodeUser } from '../../src/cluster/client/component-users.ts'
import { simulatedHost } from '../../src/cluster/node/simulated-host.ts'
import { flowTreesOf } from '../../src/flows/flow-graph.ts'
import { textDiagram } from '../../src/flows/text-diagram.ts'
import { Kubelet } from '../../src/kubelet/kubelet.ts'
import type { NodeHost } from '../../src/kubelet/node/node-host.ts'
import { solo } from '../../src/kubelet/solo.harness.ts'
import { SimulatedRuntime } from '../../src/machine/runtime/simulated-runtime.ts'
import { startBareCluster } from './bare-cluster.ts'

export { ctx } from './bare-cluster.ts'

export interface LoneNode extends AsyncDisposable {
  readonly clock: VirtualClock
  readonly admin: Client
  readonly host: NodeHost
  readonly runtime: SimulatedRuntime
  flowOf(resource: string, name: string): string
}

export async function startLoneNode(hostChanges: Partial<NodeHost>): Promise<LoneNode> {
  const bare = startBareCluster()
  const { cluster, clock, random } = bare
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
    flowOf: (resource, name) =>
      textDiagram(
        flowTreesOf(cluster.flow.events(), { resource, namespace: resource === 'namespaces' ? '' : 'default', name }),
      ),
    async [Symbol.asyncDispose]() {
      await tasks[Symbol.asyncDispose]()
      await bare[Symbol.asyncDispose]()
    },
  }
}
