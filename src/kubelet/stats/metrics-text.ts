// Metrics of a node: /metrics/resource, /metrics/cadvisor and the kubelet's own.
import { labelPairs, type MetricFamily } from '../../base/observability/exposition.ts'
import type { ContainerStats, Summary } from './summary.ts'

type Labels = Readonly<Record<string, string>>
type Sample = readonly [labels: Labels, value: number, timestampMs?: number]

interface Family {
  readonly name: string
  readonly type: 'counter' | 'gauge'
  readonly help: string
  readonly samples: readonly Sample[]
}

const nanosPerSecond = 1_000_000_000

export const resourceMetrics = (summary: Summary): MetricFamily[] => {
  const containers = containersOf(summary)
  const { node, pods } = summary
  return sampled([
    ...usageFamilies('container', containers),
    gauge(
      'container_start_time_seconds',
      '[STABLE] Start time of the container since unix epoch in seconds',
      containers.map(({ labels, startTime }) => [labels, Date.parse(startTime) / 1000]),
    ),
    ...usageFamilies('node', [{ labels: {}, ...node }]),
    ...usageFamilies(
      'pod',
      pods.map(({ podRef: { namespace, name }, ...usage }) => ({ labels: { namespace, pod: name }, ...usage })),
    ),
    gauge('resource_scrape_error', '[STABLE] 1 if there was an error while getting container metrics, 0 otherwise', [
      [{}, 0],
    ]),
  ])
}

const containersOf = ({ pods }: Summary) =>
  pods.flatMap(({ podRef, containers }) =>
    containers.map((container) => ({
      labels: { container: container.name, namespace: podRef.namespace, pod: podRef.name },
      ...container,
    })),
  )

type Usage = { readonly labels: Labels } & Pick<ContainerStats, 'cpu' | 'memory' | 'swap'>

/** CPU, memory and swap of containers, pods or the node. */
function usageFamilies(what: 'container' | 'node' | 'pod', usages: readonly Usage[]): Family[] {
  const samples = (value: (usage: Usage) => number): Sample[] =>
    usages.map((usage) => [usage.labels, value(usage), Date.parse(usage.cpu.time)])
  const swap = what === 'node' ? 'Current swap usage of the node' : `Current amount of the ${what} swap usage`
  return [
    counter(
      `${what}_cpu_usage_seconds_total`,
      `[STABLE] Cumulative cpu time consumed by the ${what} in core-seconds`,
      samples(({ cpu }) => cpu.usageCoreNanoSeconds / nanosPerSecond),
    ),
    gauge(
      `${what}_memory_working_set_bytes`,
      `[STABLE] Current working set of the ${what} in bytes`,
      samples(({ memory }) => memory.workingSetBytes),
    ),
    gauge(
      `${what}_swap_usage_bytes`,
      `[ALPHA] ${swap} in bytes. Reported only on non-windows systems`,
      samples(({ swap: { swapUsageBytes } }) => swapUsageBytes),
    ),
  ]
}

export interface MachineInfo {
  readonly cpus: number
  readonly memoryBytes: number
}

export const cadvisorMetrics = (summary: Summary, { cpus, memoryBytes }: MachineInfo): MetricFamily[] =>
  sampled([
    ...cadvisorContainers(summary),
    ...cadvisorNetwork(summary),
    gauge(
      'container_start_time_seconds',
      'Start time of the container since unix epoch in seconds.',
      containersOf(summary).map(({ labels, cpu, startTime }) => [
        labels,
        Date.parse(startTime) / 1000,
        Date.parse(cpu.time),
      ]),
    ),
    gauge('machine_cpu_cores', 'Number of logical CPU cores.', [[{}, cpus]]),
    gauge('machine_memory_bytes', 'Amount of memory installed on the machine.', [[{}, memoryBytes]]),
  ])

function cadvisorContainers(summary: Summary): Family[] {
  const containers = containersOf(summary)
  const family = (name: string, help: string, value: (container: (typeof containers)[number]) => number): Family =>
    gauge(
      name,
      help,
      containers.map((container) => [container.labels, value(container), Date.parse(container.cpu.time)]),
    )
  return [
    counter(
      'container_cpu_usage_seconds_total',
      'Cumulative cpu time consumed in seconds.',
      containers.map(({ labels, cpu }) => [
        { ...labels, cpu: 'total' },
        cpu.usageCoreNanoSeconds / nanosPerSecond,
        Date.parse(cpu.time),
      ]),
    ),
    family(
      'container_fs_usage_bytes',
      'Number of bytes that are consumed by the container on this filesystem.',
      ({ rootfs }) => rootfs.usedBytes,
    ),
    family('container_memory_rss', 'Size of RSS in bytes.', ({ memory }) => memory.rssBytes),
    family(
      'container_memory_usage_bytes',
      'Current memory usage in bytes, including all memory regardless of when it was accessed',
      ({ memory }) => memory.usageBytes,
    ),
    family(
      'container_memory_working_set_bytes',
      'Current working set in bytes.',
      ({ memory }) => memory.workingSetBytes,
    ),
    family('container_memory_swap', 'Container swap usage in bytes.', ({ swap }) => swap.swapUsageBytes),
  ]
}

const cadvisorNetwork = ({ pods }: Summary): Family[] =>
  networkCounters.map(([name, help, field]) =>
    counter(
      name,
      help,
      pods.flatMap(({ podRef, cpu, network }) =>
        (network?.interfaces ?? []).map((one): Sample => [
          { interface: one.name, namespace: podRef.namespace, pod: podRef.name },
          one[field],
          Date.parse(cpu.time),
        ]),
      ),
    ),
  )

const networkCounters = [
  ['container_network_receive_bytes_total', 'Cumulative count of bytes received', 'rxBytes'],
  ['container_network_receive_errors_total', 'Cumulative count of errors encountered while receiving', 'rxErrors'],
  ['container_network_transmit_bytes_total', 'Cumulative count of bytes transmitted', 'txBytes'],
  ['container_network_transmit_errors_total', 'Cumulative count of errors encountered while transmitting', 'txErrors'],
] as const

export const kubeletMetrics = ({ node, pods }: Summary, terminated: readonly Sample[] = []): MetricFamily[] =>
  sampled([
    gauge('kubelet_node_name', "[ALPHA] The node's name. The count is always 1.", [[{ node: node.nodeName }, 1]]),
    gauge('kubelet_running_containers', '[ALPHA] Number of containers currently running', [
      [{ container_state: 'running' }, pods.reduce((sum, { containers }) => sum + containers.length, 0)],
    ]),
    ...volumeFamilies(pods),
    gauge('kubelet_running_pods', '[ALPHA] Number of pods that have a running pod sandbox', [[{}, pods.length]]),
    counter(
      'kubelet_terminated_containers_total',
      '[ALPHA] Cumulative number of containers terminated, by type, exit code and reason',
      terminated,
    ),
  ])

const volumeGauges = [
  ['kubelet_volume_stats_available_bytes', 'Number of available bytes in the volume', 'availableBytes'],
  ['kubelet_volume_stats_capacity_bytes', 'Capacity in bytes of the volume', 'capacityBytes'],
  ['kubelet_volume_stats_inodes', 'Maximum number of inodes in the volume', 'inodes'],
  ['kubelet_volume_stats_inodes_free', 'Number of free inodes in the volume', 'inodesFree'],
  ['kubelet_volume_stats_inodes_used', 'Number of used inodes in the volume', 'inodesUsed'],
  ['kubelet_volume_stats_used_bytes', 'Number of used bytes in the volume', 'usedBytes'],
] as const

/** One sample for each claim, also if several pods use it. */
function volumeFamilies(pods: Summary['pods']): Family[] {
  const claims = new Map(
    pods.flatMap(({ volume }) =>
      volume.flatMap((one) =>
        one.pvcRef === undefined ? [] : [[`${one.pvcRef.namespace}/${one.pvcRef.name}`, one] as const],
      ),
    ),
  )
  return volumeGauges.map(([name, help, field]) =>
    gauge(
      name,
      `[ALPHA] ${help}`,
      [...claims.values()].flatMap(({ pvcRef, [field]: value }): Sample[] =>
        pvcRef === undefined || value === undefined
          ? []
          : [[{ namespace: pvcRef.namespace, persistentvolumeclaim: pvcRef.name }, value]],
      ),
    ),
  )
}

const counter = (name: string, help: string, samples: readonly Sample[]): Family => ({
  name,
  type: 'counter',
  help,
  samples,
})
const gauge = (name: string, help: string, samples: readonly Sample[]): Family => ({
  name,
  type: 'gauge',
  help,
  samples,
})

const sampled = (families: readonly Family[]): MetricFamily[] =>
  families
    .filter(({ samples }) => samples.length > 0)
    .map(({ samples, ...family }) => ({
      ...family,
      samples: samples.map(([labels, value, timestampMs]) => ({
        suffix: '',
        labels: labelPairs(Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1))),
        value,
        timestampMs,
      })),
    }))
