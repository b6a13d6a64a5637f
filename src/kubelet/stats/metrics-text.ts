// Metrics of a node in Prometheus' text format: /metrics/resource, /metrics/cadvisor and the kubelet's own.
import type { Summary } from './summary.ts'

type Labels = Readonly<Record<string, string>>
type Sample = readonly [labels: Labels, value: number, timestampMs?: number]

interface Family {
  readonly name: string
  readonly type: 'counter' | 'gauge'
  readonly help: string
  readonly samples: readonly Sample[]
}

const nanosPerSecond = 1_000_000_000

export function resourceMetrics({ node, pods }: Summary): string {
  const nodeMs = Date.parse(node.cpu.time)
  const containers = pods.flatMap(({ podRef, containers: own }) =>
    own.map((one) => ({
      labels: { container: one.name, namespace: podRef.namespace, pod: podRef.name },
      ms: Date.parse(one.cpu.time),
      ...one,
    })),
  )
  const ofPods = pods.map(({ podRef, ...rest }) => ({
    labels: { namespace: podRef.namespace, pod: podRef.name },
    ms: Date.parse(rest.cpu.time),
    ...rest,
  }))
  return text([
    counter(
      'container_cpu_usage_seconds_total',
      '[STABLE] Cumulative cpu time consumed by the container in core-seconds',
      containers.map(({ labels, cpu, ms }) => [labels, cpu.usageCoreNanoSeconds / nanosPerSecond, ms]),
    ),
    gauge(
      'container_memory_working_set_bytes',
      '[STABLE] Current working set of the container in bytes',
      containers.map(({ labels, memory, ms }) => [labels, memory.workingSetBytes, ms]),
    ),
    gauge(
      'container_swap_usage_bytes',
      '[ALPHA] Current amount of the container swap usage in bytes. Reported only on non-windows systems',
      containers.map(({ labels, swap, ms }) => [labels, swap.swapUsageBytes, ms]),
    ),
    gauge(
      'container_start_time_seconds',
      '[STABLE] Start time of the container since unix epoch in seconds',
      containers.map(({ labels, startTime }) => [labels, Date.parse(startTime) / 1000]),
    ),
    counter('node_cpu_usage_seconds_total', '[STABLE] Cumulative cpu time consumed by the node in core-seconds', [
      [{}, node.cpu.usageCoreNanoSeconds / nanosPerSecond, nodeMs],
    ]),
    gauge('node_memory_working_set_bytes', '[STABLE] Current working set of the node in bytes', [
      [{}, node.memory.workingSetBytes, nodeMs],
    ]),
    gauge(
      'node_swap_usage_bytes',
      '[ALPHA] Current swap usage of the node in bytes. Reported only on non-windows systems',
      [[{}, node.swap.swapUsageBytes, nodeMs]],
    ),
    counter(
      'pod_cpu_usage_seconds_total',
      '[STABLE] Cumulative cpu time consumed by the pod in core-seconds',
      ofPods.map(({ labels, cpu, ms }) => [labels, cpu.usageCoreNanoSeconds / nanosPerSecond, ms]),
    ),
    gauge(
      'pod_memory_working_set_bytes',
      '[STABLE] Current working set of the pod in bytes',
      ofPods.map(({ labels, memory, ms }) => [labels, memory.workingSetBytes, ms]),
    ),
    gauge(
      'pod_swap_usage_bytes',
      '[ALPHA] Current amount of the pod swap usage in bytes. Reported only on non-windows systems',
      ofPods.map(({ labels, swap, ms }) => [labels, swap.swapUsageBytes, ms]),
    ),
    gauge('resource_scrape_error', '[STABLE] 1 if there was an error while getting container metrics, 0 otherwise', [
      [{}, 0],
    ]),
  ])
}

export interface MachineInfo {
  readonly cpus: number
  readonly memoryBytes: number
}

export function cadvisorMetrics({ pods }: Summary, { cpus, memoryBytes }: MachineInfo): string {
  const containers = pods.flatMap(({ podRef, containers: own }) =>
    own.map((one) => ({
      labels: { container: one.name, namespace: podRef.namespace, pod: podRef.name },
      ...one,
    })),
  )
  const each = (value: (one: (typeof containers)[number]) => number): Sample[] =>
    containers.map((one) => [one.labels, value(one), Date.parse(one.cpu.time)])
  return text([
    counter(
      'container_cpu_usage_seconds_total',
      'Cumulative cpu time consumed in seconds.',
      containers.map(({ labels, cpu }) => [
        { ...labels, cpu: 'total' },
        cpu.usageCoreNanoSeconds / nanosPerSecond,
        Date.parse(cpu.time),
      ]),
    ),
    gauge(
      'container_fs_usage_bytes',
      'Number of bytes that are consumed by the container on this filesystem.',
      each(({ rootfs }) => rootfs.usedBytes),
    ),
    gauge(
      'container_memory_rss',
      'Size of RSS in bytes.',
      each(({ memory }) => memory.rssBytes),
    ),
    gauge(
      'container_memory_usage_bytes',
      'Current memory usage in bytes, including all memory regardless of when it was accessed',
      each(({ memory }) => memory.usageBytes),
    ),
    gauge(
      'container_memory_working_set_bytes',
      'Current working set in bytes.',
      each(({ memory }) => memory.workingSetBytes),
    ),
    gauge(
      'container_memory_swap',
      'Container swap usage in bytes.',
      each(({ swap }) => swap.swapUsageBytes),
    ),
    ...networkCounters.map(([name, help, field]) =>
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
    ),
    gauge(
      'container_start_time_seconds',
      'Start time of the container since unix epoch in seconds.',
      each(({ startTime }) => Date.parse(startTime) / 1000),
    ),
    gauge('machine_cpu_cores', 'Number of logical CPU cores.', [[{}, cpus]]),
    gauge('machine_memory_bytes', 'Amount of memory installed on the machine.', [[{}, memoryBytes]]),
  ])
}

const networkCounters = [
  ['container_network_receive_bytes_total', 'Cumulative count of bytes received', 'rxBytes'],
  ['container_network_receive_errors_total', 'Cumulative count of errors encountered while receiving', 'rxErrors'],
  ['container_network_transmit_bytes_total', 'Cumulative count of bytes transmitted', 'txBytes'],
  ['container_network_transmit_errors_total', 'Cumulative count of errors encountered while transmitting', 'txErrors'],
] as const

export const kubeletMetrics = ({ node, pods }: Summary): string =>
  text([
    gauge('kubelet_node_name', "[ALPHA] The node's name. The count is always 1.", [[{ node: node.nodeName }, 1]]),
    gauge('kubelet_running_containers', '[ALPHA] Number of containers currently running', [
      [{ container_state: 'running' }, pods.reduce((sum, { containers }) => sum + containers.length, 0)],
    ]),
    gauge('kubelet_running_pods', '[ALPHA] Number of pods that have a running pod sandbox', [[{}, pods.length]]),
  ])

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

const text = (families: readonly Family[]): string =>
  families
    .filter(({ samples }) => samples.length > 0)
    .flatMap(({ name, type, help, samples }) => [
      `# HELP ${name} ${help}`,
      `# TYPE ${name} ${type}`,
      ...samples.map(
        ([labels, value, ms]) => `${name}${labelsText(labels)} ${value}${ms === undefined ? '' : ` ${ms}`}`,
      ),
    ])
    .map((line) => `${line}\n`)
    .join('')

function labelsText(labels: Labels): string {
  const pairs = Object.entries(labels)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}
