// A cluster with one separate kubelet that does what simulated nodes do not: it loads tokens when it mounts their volume,
// and it runs static pods.
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
import type { ProjectedFile } from '../../src/machine/disk/disk.ts'
import { SimulatedDisk } from '../../src/machine/disk/simulated-disk.ts'
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

/** Loads all content when a volume is mounted, as the disk of a real node does. */
class LoadingDisk extends SimulatedDisk {
  override async project(
    directory: string,
    files: ReadonlyMap<string, ProjectedFile>,
    gid: number | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const loaded = new Map<string, ProjectedFile>()
    for (const [path, { content, ...rest }] of files)
      loaded.set(path, { ...rest, content: typeof content === 'function' ? await content(signal) : content })
    await super.project(directory, loaded, gid, signal)
  }
}

export async function startLoneNode(hostChanges: Partial<NodeHost> = {}): Promise<LoneNode> {
  const bare = startBareCluster()
  const { cluster, clock, random } = bare
  const disk = new LoadingDisk()
  const runtime = new SimulatedRuntime(clock, random, { disk })
  const host = { ...simulatedHost(runtime, disk), ...hostChanges }
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
