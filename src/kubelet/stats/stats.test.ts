// Usage of a node and its pods: CPU rates, the summary, and its formats.
import { deepEqual, equal, match, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { pod, type Pod } from '../../api/core/v1/pod/pod.ts'
import { SimulatedCgroups } from '../../machine/cgroups/simulated-cgroups.ts'
import { SimulatedDisk } from '../../machine/disk/simulated-disk.ts'
import { SimulatedHostLoad } from '../../machine/load/simulated-host-load.ts'
import { decode } from '../../schema/decoding/decode.ts'
import { withDefaults } from '../../schema/decoding/defaults.ts'
import { CpuRates } from './cpu-rates.ts'
import { textFormat } from '../../base/observability/exposition.ts'
import { cadvisorMetrics, kubeletMetrics, resourceMetrics } from './metrics-text.ts'
import { NodeStats } from './node-stats.ts'
import { cpuAndMemoryOf } from './summary.ts'

test('a rate is the usage since the last sample, since the start, or since a counter reset', () => {
  const rates = new CpuRates()
  const sample = (nanos: number, nowMs: number) => {
    const round = rates.round()
    const rate = round.nanoCores('c', nanos, 0, nowMs)
    round.finish()
    return rate
  }
  deepEqual(
    [sample(5e9, 10_000), sample(15e9, 20_000), sample(16e9, 20_500), sample(25e9, 30_000), sample(1e9, 40_000)],
    [5e8, 1e9, 1e9, 1e9, 25_000_000],
  )
  rates.round().finish()
  equal(sample(20e9, 40_000), 5e8, 'what was not seen is forgotten')
})

const running: Pod = (() => {
  const body = {
    metadata: { name: 'web', namespace: 'default', uid: 'u' },
    spec: {
      containers: [{ name: 'c', image: 'i' }],
      volumes: [
        { name: 'cache', emptyDir: {} },
        { name: 'fast', emptyDir: { medium: 'Memory' } },
      ],
    },
    status: { phase: 'Running', startTime: '2030-01-01T00:00:00Z' },
  }
  return pod.applyDefaults(withDefaults(pod.message, decode(pod.message, body).value as unknown as Pod))
})()

const eth0 = { name: 'eth0', rxBytes: 11, rxErrors: 1, txBytes: 22, txErrors: 2 }

/** Every cgroup contains a process. */
class RunningCgroups extends SimulatedCgroups {
  override process() {
    return Promise.resolve(7)
  }
}

async function measured() {
  const clock = new VirtualClock()
  const disk = new SimulatedDisk()
  const write = (path: string, bytes: number) => disk.write(path, { content: new Uint8Array(bytes), mode: 0o644 })
  await disk.makeDirectory('/pods/u/volumes', 0o755)
  for (const name of ['cache', 'fast']) {
    await disk.makeDirectory(`/pods/u/volumes/kubernetes.io~empty-dir/${name}`, 0o755)
    await write(`/pods/u/volumes/kubernetes.io~empty-dir/${name}/f`, 1000)
  }
  await disk.makeDirectory('/logs/default_web_u/c', 0o755)
  await write('/logs/default_web_u/c/0.log', 50)
  const usage = { memoryBytes: 70, workingSetBytes: 60, rssBytes: 50, pageFaults: 0, majorPageFaults: 0, swapBytes: 4 }
  const stats = new NodeStats({
    runtime: {
      fileSystems: () =>
        Promise.resolve({ images: { path: '/images', usedBytes: 0, inodesUsed: 0 }, containers: undefined }),
      stats: () =>
        Promise.resolve([
          {
            containerId: 'id',
            podUid: 'u',
            name: 'c',
            usage: { cpuNanos: clock.nowMs() * 1000, ...usage },
            layer: { bytes: 7, inodes: 2 },
          },
        ]),
    },
    host: {
      cgroups: new RunningCgroups(),
      cgroupRoot: '/kubepods',
      load: new SimulatedHostLoad({ memoryAvailableBytes: 1024, network: [eth0] }),
      disk,
      paths: { pods: '/pods', logs: '/logs' },
    },
    pods: () => [running],
    nodeName: 'n',
    machine: { cpus: 8, memoryBytes: 1 << 30 },
    clock,
  })
  return { clock, disk, stats }
}

const { signal } = new AbortController()

test('the summary contains CPU, memory, and disk usage of containers, logs and volumes', async () => {
  const { clock, stats } = await measured()
  await stats.summary(signal)
  await clock.advance(10_000)
  const { node, pods } = await stats.summary(signal)
  equal(node.memory.availableBytes, 1024)
  const [seen] = pods
  deepEqual(
    [seen?.podRef, seen?.cpu.usageNanoCores, seen?.memory.workingSetBytes, seen?.process_stats.process_count],
    [{ name: 'web', namespace: 'default', uid: 'u' }, 1_000_000, 60, 1],
  )
  deepEqual(
    seen?.volume.map(({ name, usedBytes }) => [name, usedBytes]),
    [
      ['cache', 1000],
      ['fast', 1000],
    ],
  )
  equal(seen?.['ephemeral-storage'].usedBytes, 1000 + 50 + 7, 'what is in memory takes no disk')
  deepEqual([seen?.network?.rxBytes, seen?.network?.interfaces, seen?.swap.swapUsageBytes], [11, [eth0], 4])
  const short = cpuAndMemoryOf({ node, pods })
  deepEqual(Object.keys(short.pods[0] ?? {}), ['podRef', 'startTime', 'containers', 'cpu', 'memory'])
})

test('CPU and memory alone are collected without reading directories, and taken from a recent summary', async () => {
  const { stats, disk, clock } = await measured()
  const alone = await stats.cpuAndMemory(signal)
  await clock.advance(500)
  const summary = await stats.summary(signal)
  deepEqual(Object.keys(alone.node), Object.keys(cpuAndMemoryOf(summary).node))
  deepEqual(alone.pods[0]?.memory.workingSetBytes, summary.pods[0]?.memory.workingSetBytes)
  deepEqual(await stats.cpuAndMemory(signal), cpuAndMemoryOf(summary))
  await clock.advance(60_000)
  disk.usedBytes = () => Promise.reject(new Error('directories are read'))
  equal((await stats.cpuAndMemory(signal)).pods.length, 1)
  await rejects(stats.summary(signal), /directories are read/)
})

/** Has a file system only for paths that exist, as the host does. */
class DiskLoad extends SimulatedHostLoad {
  readonly #disk: SimulatedDisk

  constructor(disk: SimulatedDisk) {
    super()
    this.#disk = disk
  }

  override async fileSystem(path: string) {
    if ((await this.#disk.kindOf(path)) === undefined) throw new Error(`ENOENT: ${path}`)
    return super.fileSystem(path)
  }
}

test('a node that never had a pod has a summary', async () => {
  const disk = new SimulatedDisk()
  await disk.makeDirectory('/images', 0o755)
  const images = { path: '/images', usedBytes: 0, inodesUsed: 0 }
  const stats = new NodeStats({
    runtime: {
      fileSystems: () => Promise.resolve({ images, containers: undefined }),
      stats: () => Promise.resolve([]),
    },
    host: {
      cgroups: new SimulatedCgroups(),
      cgroupRoot: '/kubepods',
      load: new DiskLoad(disk),
      disk,
      paths: { pods: '/node/pods', logs: '/node/logs' },
    },
    pods: () => [],
    nodeName: 'n',
    machine: { cpus: 8, memoryBytes: 1 << 30 },
    clock: new VirtualClock(),
  })
  const { node, pods } = await stats.summary(signal)
  deepEqual([node.fs.capacityBytes > 0, pods], [true, []])
})

test('metrics contain the same values in the text format', async () => {
  const { stats } = await measured()
  const summary = await stats.summary(signal)
  const resource = textFormat.write(resourceMetrics(summary))
  match(resource, /^# TYPE container_memory_working_set_bytes gauge$/m)
  match(resource, /^container_memory_working_set_bytes\{container="c",namespace="default",pod="web"\} 60 \d+$/m)
  match(resource, /^pod_memory_working_set_bytes\{namespace="default",pod="web"\} 60 \d+$/m)
  match(resource, /^resource_scrape_error 0$/m)
  match(resource, /^pod_swap_usage_bytes\{namespace="default",pod="web"\} 4 \d+$/m)
  const cadvisor = textFormat.write(cadvisorMetrics(summary, stats.machine))
  match(cadvisor, /^machine_cpu_cores 8$/m)
  match(cadvisor, /^container_network_transmit_bytes_total\{interface="eth0",namespace="default",pod="web"\} 22 \d+$/m)
  match(textFormat.write(kubeletMetrics(summary)), /^kubelet_running_pods 1$/m)
})
