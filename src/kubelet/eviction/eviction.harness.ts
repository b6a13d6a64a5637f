// A node under pressure, for tests: the test sets its free resources and the usage of its pods.
import { silentLog } from '../../base/observability/log.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { pod, type Pod } from '../../api/core/v1/pod/pod.ts'
import { SimulatedCgroups } from '../../machine/cgroups/simulated-cgroups.ts'
import { SimulatedDisk } from '../../machine/disk/simulated-disk.ts'
import { SimulatedHostLoad, type SimulatedLoad } from '../../machine/load/simulated-host-load.ts'
import { decode } from '../../schema/decoding/decode.ts'
import { withDefaults } from '../../schema/decoding/defaults.ts'
import { NodeStats } from '../stats/node-stats.ts'
import { EvictionManager, type EvictionManagerDeps } from './eviction-manager.ts'

export interface UsedBy {
  readonly memoryBytes?: number
  readonly layerBytes?: number
  readonly logBytes?: number
}

export const podCalled = (name: string, spec: object = {}, resources: object = {}): Pod => {
  const body = {
    metadata: { name, namespace: 'default', uid: name },
    spec: { containers: [{ name: 'c', image: 'i', resources }], ...spec },
    status: { phase: 'Running', startTime: '2030-01-01T00:00:00Z' },
  }
  return pod.applyDefaults(withDefaults(pod.message, decode(pod.message, body).value as unknown as Pod))
}

type PodUsage = { readonly pod: Pod; readonly used: UsedBy }

const runtimeStats = ({ pod: { metadata }, used: { memoryBytes = 0, layerBytes = 0 } }: PodUsage) => ({
  containerId: metadata.uid,
  podUid: metadata.uid,
  name: 'c',
  usage: {
    cpuNanos: 0,
    memoryBytes,
    workingSetBytes: memoryBytes,
    rssBytes: 0,
    pageFaults: 0,
    majorPageFaults: 0,
    swapBytes: 0,
  },
  layer: { bytes: layerBytes, inodes: 0 },
})

function statsOf(present: ReadonlyMap<string, PodUsage>, load: SimulatedHostLoad, clock: VirtualClock): NodeStats {
  const disk = new SimulatedDisk()
  for (const { pod: one, used } of present.values()) {
    const logs = `/logs/default_${one.metadata.name}_${one.metadata.uid}/c`
    void disk.makeDirectory(logs, 0o755)
    void disk.write(`${logs}/0.log`, {
      content: new Uint8Array(used.logBytes ?? 0),
      mode: 0o644,
    })
  }
  const images = { path: '/images', usedBytes: 0, inodesUsed: 0 }
  return new NodeStats({
    runtime: {
      fileSystems: () => Promise.resolve({ images, containers: undefined }),
      stats: () => Promise.resolve([...present.values()].map(runtimeStats)),
    },
    host: {
      cgroups: new SimulatedCgroups(),
      cgroupRoot: '/kubepods',
      load,
      disk,
      paths: { pods: '/pods', logs: '/logs' },
    },
    pods: () => [...present.values()].map((one) => one.pod),
    nodeName: 'n',
    machine: { cpus: 1, memoryBytes: 1 },
    clock,
  })
}

/** `actions`: what the eviction manager has done, as text. */
export function nodeUnderPressure(
  pods: readonly (readonly [Pod, UsedBy])[],
  settings: EvictionManagerDeps['settings'],
  loaded: Partial<SimulatedLoad> = {},
  more: Partial<EvictionManagerDeps> = {},
) {
  const clock = new VirtualClock()
  const load = new SimulatedHostLoad(loaded)
  const actions: string[] = []
  const record = (action: string) => Promise.resolve(void actions.push(action))
  const present = new Map(pods.map(([one, used]) => [one.metadata.uid, { pod: one, used }]))
  const manager = new EvictionManager({
    stats: statsOf(present, load, clock),
    settings,
    pods: () => [...present.values()].map((one) => one.pod),
    reclaimDisk: ({ images, containers }) =>
      record(`free disk${images ? ' images' : ''}${containers ? ' containers' : ''}`),
    evict: ({ pod: one, message, graceSeconds }) => {
      present.delete(one.metadata.uid)
      return record(`evict ${one.metadata.name} in ${graceSeconds}: ${message}`)
    },
    onReclaim: (resource) => record(`reclaim ${resource}`),
    clock,
    log: silentLog,
    ...more,
  })
  const tasks = new TaskGroup()
  tasks.start('eviction', (signal) => manager.run((conditions) => record(`conditions ${conditions.join()}`), signal))
  return {
    clock,
    manager,
    actions,
    load: (now: Partial<SimulatedLoad>) => load.set(now),
    [Symbol.asyncDispose]: () => tasks[Symbol.asyncDispose](),
  }
}
