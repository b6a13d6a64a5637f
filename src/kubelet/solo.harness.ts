// A single kubelet for tests, on its own node, beside a cluster without nodes.
import { FlowRecorder } from '../base/observability/flow-recorder.ts'
import { silentLog } from '../base/observability/log.ts'
import { seededRandom } from '../base/random/random.ts'
import { TaskGroup } from '../base/async/task-group.ts'
import { simulatedHost } from '../cluster/node/simulated-host.ts'
import type { TestCluster } from '../cluster/testing/start-cluster.ts'
import { SimulatedDisk } from '../machine/disk/simulated-disk.ts'
import { SimulatedRuntime, type SimulatedRuntimeOptions } from '../machine/runtime/simulated-runtime.ts'
import { Kubelet } from './kubelet.ts'
import type { NodeHost } from './node/node-host.ts'
import { defaultKubeletSettings, type KubeletSettings } from './node/kubelet-settings.ts'

export const solo = {
  name: 'solo',
  hostIp: '192.0.2.9',
  capacity: { cpu: '4', memory: '4Gi', pods: '20' },
  runtime: 'simulated://1',
  operatingSystem: 'linux',
  architecture: 'arm64',
  podCidrs: ['10.9.0.0/24'],
}

/** `start` starts a kubelet on the same machine each time; containers keep running in between. */
export function soloNode(
  { client, clock }: Pick<TestCluster, 'client' | 'clock'>,
  hostChanges: Partial<NodeHost> = {},
  settingChanges: Partial<KubeletSettings> = {},
  simulation: SimulatedRuntimeOptions = {},
) {
  const random = seededRandom(9)
  const disk = new SimulatedDisk()
  const runtime = new SimulatedRuntime(clock, random, { disk, ...simulation })
  const host = { ...simulatedHost(runtime, disk), ...hostChanges }
  const settings = { ...defaultKubeletSettings, ...settingChanges }
  let kubelet: Kubelet | undefined
  const start = (): TaskGroup => {
    const tasks = new TaskGroup()
    const flow = new FlowRecorder(clock)
    const deps = { client, runtime, clock, random, flow, log: silentLog, description: solo, settings, host }
    kubelet = new Kubelet(deps)
    kubelet.start(tasks)
    return tasks
  }
  return { runtime, host, start, kubelet: () => kubelet }
}
