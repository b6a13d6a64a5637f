// The rows of `coxswain status` for a running cluster: versions, store, nodes, pods and process. One function per row.
import { context } from '../../base/observability/context.ts'
import { errorText } from '../../base/observability/log.ts'
import packageFields from '../../../package.json' with { type: 'json' }
import { node, type Node } from '../../api/core/v1/node/node.ts'
import { pod, type Pod } from '../../api/core/v1/pod/pod.ts'
import { podPathsAnnotation } from '../../proxy/pod-routes/pod-routes.ts'
import { fetchCoxswainPath, streamCoxswainPath } from '../../cluster/client/coxswain-path.ts'
import { openRemote } from '../../cluster/client/remote.ts'

export type Row = readonly [label: string, text: string]

export async function statusRows(kubeconfig: string, signal: AbortSignal): Promise<readonly Row[]> {
  await using remote = await openRemote(kubeconfig, signal)
  const client = remote.clientAs('coxswain status')
  const ctx = context(signal)
  try {
    const [nodes, pods, version, metrics] = await Promise.all([
      client.of(node).list({}, ctx),
      client.of(pod).list({}, ctx),
      fetchCoxswainPath(kubeconfig, '/version', signal),
      metricsOf(kubeconfig, signal),
    ])
    return [
      ['api', remote.server],
      ['version', versionText(version as { gitVersion?: string }, metrics)],
      ...rowOf('store latency', storeText(metrics)),
      ['nodes', nodesText(nodes.items)],
      ...rowOf('pod network', podNetworkText(nodes.items)),
      ['pods', podsText(pods.items)],
      ...rowOf('process', processText(metrics)),
    ]
  } catch (error) {
    signal.throwIfAborted()
    return [['api', `${remote.server} does not answer: ${errorText(error)}`]]
  }
}

async function metricsOf(kubeconfig: string, signal: AbortSignal): Promise<string> {
  let text = ''
  for await (const piece of streamCoxswainPath(kubeconfig, '/metrics', signal)) text += piece
  return text
}

const rowOf = (label: string, text: string): Row[] => (text === '' ? [] : [[label, text]])

/** The value of a series by its prefix; undefined when it does not exist. */
function valueOf(metrics: string, series: string): number | undefined {
  const line = metrics.split('\n').find((each) => each.startsWith(`${series} `))
  return line === undefined ? undefined : Number(line.slice(series.length + 1))
}

export function versionText({ gitVersion = 'unknown' }: { gitVersion?: string }, metrics: string): string {
  const [, nodejs] = /^nodejs_version_info\{version="([^"]+)"/m.exec(metrics) ?? []
  return `Coxswain ${packageFields.version}, Kubernetes ${gitVersion}${nodejs === undefined ? '' : `, Node.js ${nodejs}`}`
}

/** The number of store requests and their average duration. */
export function storeText(metrics: string): string {
  const sums = { reads: { count: 0, seconds: 0 }, writes: { count: 0, seconds: 0 } }
  for (const line of metrics.split('\n')) {
    const [, part, operation] = /^etcd_request_duration_seconds_(sum|count)\{operation="(\w+)"/.exec(line) ?? []
    if (operation === undefined) continue
    const value = line.slice(line.lastIndexOf(' ') + 1)
    const total = operation === 'get' || operation === 'list' ? sums.reads : sums.writes
    total[part === 'sum' ? 'seconds' : 'count'] += Number(value)
  }
  const texts = Object.entries(sums).flatMap(([what, { count, seconds }]) =>
    count === 0 ? [] : [`${count} ${what} (${((seconds / count) * 1000).toFixed(1)} ms on average)`],
  )
  return texts.join(', ')
}

/** Further names are only counted. */
const namesMax = 3

const listed = (names: readonly string[]): string =>
  names.length <= namesMax
    ? names.join(', ')
    : `${names.slice(0, namesMax).join(', ')} and ${names.length - namesMax} more`

const conditionTrue = ({ status }: Node, type: string): boolean =>
  (status.conditions ?? []).some((condition) => condition.type === type && condition.status === 'True')

const pressures = ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'NetworkUnavailable'] as const

export function nodesText(nodes: readonly Node[]): string {
  const namesOf = (chosen: readonly Node[]): string => listed(chosen.map(({ metadata }) => metadata.name))
  const unready = nodes.filter((each) => !conditionTrue(each, 'Ready'))
  const cordoned = nodes.filter(({ spec }) => spec.unschedulable)
  const pressed = pressures.flatMap((type) => {
    const affected = nodes.filter((each) => conditionTrue(each, type))
    return affected.length === 0 ? [] : [`${type}: ${namesOf(affected)}`]
  })
  return [
    `${nodes.length - unready.length} of ${nodes.length} ready`,
    ...(unready.length === 0 ? [] : [`not ready: ${namesOf(unready)}`]),
    ...(cordoned.length === 0 ? [] : [`cordoned: ${namesOf(cordoned)}`]),
    ...(nodes.length === 0 ? [] : pressed.length === 0 ? ['no pressure'] : pressed),
  ].join('; ')
}

/** How real nodes reach the pods of other nodes; empty if there is at most one node. */
export function podNetworkText(nodes: readonly Node[]): string {
  const counts = new Map<string, number>()
  for (const { metadata } of nodes) {
    const text = metadata.annotations?.[podPathsAnnotation]
    if (text !== undefined) counts.set(text, (counts.get(text) ?? 0) + 1)
  }
  counts.delete('no other nodes')
  return [...counts].map(([text, count]) => `${text} (${count} ${count === 1 ? 'node' : 'nodes'})`).join(', ')
}

export function podsText(pods: readonly Pod[]): string {
  const phases = Map.groupBy(pods, ({ status: { phase } }) => phase ?? 'Pending')
  const counts = [...phases].map(([phase, members]) => `${members.length} ${phase}`)
  return counts.length === 0 ? 'none' : counts.join(', ')
}

export function processText(metrics: string): string {
  const bytes = valueOf(metrics, 'process_resident_memory_bytes')
  const delay = valueOf(metrics, 'nodejs_eventloop_lag_p99_seconds')
  const files = valueOf(metrics, 'process_open_fds')
  return [
    ...(bytes === undefined ? [] : [`${Math.round(bytes / 2 ** 20)} MB of memory`]),
    ...(delay === undefined ? [] : [`event loop delay ${(delay * 1000).toFixed(0)} ms (99th percentile)`]),
    ...(files === undefined ? [] : [`${files} open files`]),
  ].join(', ')
}
