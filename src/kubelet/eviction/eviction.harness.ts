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

export function pressedNode(
  pods: readonly (readonly [Pod, UsedBy])[],
  settings: EvictionManagerDeps['settings'],
  loaded: Partial<SimulatedLoad> = {},
  more: Partial<EvictionManagerDeps> = {},
) {
  const clock = new VirtualClock()
  const load = new SimulatedHostLoad(loaded)
  const told: string[] = []
  const left = new Map(pods.map(([one, used]) => [one.metadata.uid, { pod: one, used }]))
  const disk = new SimulatedDisk()
  for (const [{ metadata }, { logBytes = 0 }] of pods)
    void disk.write(`/logs/default_${metadata.name}_${metadata.uid}/c/0.log`, {
      content: new Uint8Array(logBytes),
      mode: 0o644,
    })
  const stats = new NodeStats({
    runtime: {
      fileSystems: () =>
        Promise.resolve({ images: { path: '/images', usedBytes: 0, inodesUsed: 0 }, containers: undefined }),
      stats: () =>
        Promise.resolve(
          [...left.values()].map(({ pod: one, used: { memoryBytes = 0, layerBytes = 0 } }) => ({
            containerId: one.metadata.uid,
            podUid: one.metadata.uid,
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
          })),
        ),
    },
    host: {
      cgroups: new SimulatedCgroups(),
      cgroupRoot: '/kubepods',
      load,
      disk,
      paths: { pods: '/pods', logs: '/logs' },
    },
    pods: () => [...left.values()].map((one) => one.pod),
    nodeName: 'n',
    machine: { cpus: 1, memoryBytes: 1 },
    clock,
  })
  const manager = new EvictionManager({
    stats,
    settings,
    pods: () => [...left.values()].map((one) => one.pod),
    reclaimDisk: ({ images, containers }) =>
      Promise.resolve(void told.push(`free disk${images ? ' images' : ''}${containers ? ' containers' : ''}`)),
    evict: ({ pod: one, message, graceSeconds }) => {
      left.delete(one.metadata.uid)
      told.push(`evict ${one.metadata.name} in ${graceSeconds}: ${message}`)
      return Promise.resolve()
    },
    onReclaim: (resource) => Promise.resolve(void told.push(`reclaim ${resource}`)),
    onConditions: (conditions) => Promise.resolve(void told.push(`conditions ${conditions.join()}`)),
    clock,
    log: silentLog,
    ...more,
  })
  const tasks = new TaskGroup()
  tasks.start('pressure', (signal) => manager.run(signal))
  return {
    clock,
    manager,
    told,
    load: (now: Partial<SimulatedLoad>) => load.set(now),
    [Symbol.asyncDispose]: () => tasks[Symbol.asyncDispose](),
  }
}
