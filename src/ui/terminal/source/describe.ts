// describeLines: an object in the form of `kubectl describe`: metadata, containers of a pod, conditions, the other fields
// as YAML, and its events.
import { ageText } from '../../../api/columns/age.ts'
import type { Event } from '../../../api/core/v1/event.ts'
import type { Pod } from '../../../api/core/v1/pod/pod.ts'
import type { Secret } from '../../../api/core/v1/secret.ts'
import type { ApiObject } from '../../../api/meta/object.ts'
import { yamlText } from '../../page/model/yaml-text.ts'
import { containerColumns, containerRows } from './container-rows.ts'

interface Condition {
  readonly type: string
  readonly status: string
  readonly reason?: string
  readonly message?: string
}

export function describeLines(object: ApiObject, events: readonly Event[], nowMs: number): string[] {
  const { metadata, kind, apiVersion, ...fields } = object as ApiObject & {
    readonly status?: { conditions?: Condition[] }
  }
  const { status, ...others } = fields
  const { conditions = [], ...state } = status ?? {}
  const { [lastApplied]: _, ...annotations } = metadata.annotations ?? {}
  const isPod = kind === 'Pod' && apiVersion === 'v1'
  const isSecret = kind === 'Secret' && apiVersion === 'v1'
  return [
    field('Name', metadata.name),
    ...(metadata.namespace === undefined ? [] : [field('Namespace', metadata.namespace)]),
    field('Kind', `${kind} (${apiVersion})`),
    field('Created', `${metadata.creationTimestamp ?? ''} (${ageText(metadata.creationTimestamp, nowMs)} ago)`),
    ...(metadata.deletionTimestamp ? [field('Deleting', `since ${metadata.deletionTimestamp}`)] : []),
    ...pairs('Labels', metadata.labels, '='),
    ...pairs('Annotations', annotations, ': '),
    ...(metadata.ownerReferences ?? []).map((owner) => field('Owner', `${owner.kind}/${owner.name}`)),
    ...(metadata.finalizers ?? []).map((each) => field('Finalizer', each)),
    ...(isPod ? podLines(object as Pod) : []),
    ...table(
      'Conditions',
      ['TYPE', 'STATUS', 'REASON', 'MESSAGE'],
      conditions.map((each) => [each.type, each.status, each.reason ?? '', each.message ?? '']),
    ),
    ...section('Status', isPod ? {} : state),
    ...(isSecret ? pairs('Data', sizes((object as Secret).data), ': ') : []),
    ...Object.entries(others)
      .filter(([name]) => !isSecret || name !== 'data')
      .flatMap(([name, value]) => section(titled(name), value)),
    ...eventLines(events, nowMs),
  ]
}

const labelColumns = 13
const field = (name: string, value: string): string => `${`${name}:`.padEnd(labelColumns)}${value}`
const titled = (name: string): string => `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`

/** The values of a Secret are not shown in a description, only their sizes. */
const sizes = (data: Readonly<Record<string, string>> = {}): Record<string, string> =>
  Object.fromEntries(
    Object.entries(data).map(([name, base64]) => [name, `${Uint8Array.fromBase64(base64).length} bytes`]),
  )

/** kubectl apply keeps the whole object here, also the values of a Secret. */
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration'

const pairCharsMax = 200
function pairs(title: string, values: Readonly<Record<string, string>> = {}, sign: string): string[] {
  return Object.entries(values).map(([name, value], index) => {
    const text = value.length > pairCharsMax ? `${value.slice(0, pairCharsMax)}…` : value
    return `${(index === 0 ? `${title}:` : '').padEnd(labelColumns)}${name}${sign}${text}`
  })
}

function podLines(pod: Pod): string[] {
  const { status, spec } = pod
  return [
    field('Node', spec.nodeName ?? '<none>'),
    field('Phase', status?.phase ?? ''),
    ...(status?.podIP ? [field('IP', status.podIP)] : []),
    ...(status?.reason ? [field('Reason', status.reason)] : []),
    ...(status?.message ? [field('Message', status.message)] : []),
    ...table(
      'Containers',
      containerColumns.map(({ name }) => name.toUpperCase()),
      containerRows(pod).map(({ cells }) => cells),
    ),
  ]
}

function section(title: string, value: unknown): string[] {
  if (typeof value !== 'object' || value === null)
    return value === undefined ? [] : [field(title, JSON.stringify(value))]
  if (Object.keys(value).length === 0) return []
  return ['', `${title}:`, ...yamlText(value, '  ').trimEnd().split('\n')]
}

function table(title: string, head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  if (rows.length === 0) return []
  const all = [head, ...rows]
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)))
  const lines = all.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
  return ['', `${title}:`, ...lines.map((line) => `  ${line.trimEnd()}`)]
}

function eventLines(events: readonly Event[], nowMs: number): string[] {
  if (events.length === 0) return ['', 'Events:      <none>']
  const timeOf = (event: Event): string =>
    event.series?.lastObservedTime || event.lastTimestamp || event.eventTime || event.metadata.creationTimestamp || ''
  const rows = events
    .toSorted((a, b) => Number(timeOf(a) > timeOf(b)) - Number(timeOf(a) < timeOf(b)))
    .map((event) => {
      const times = event.series?.count ?? event.count ?? 1
      const age = `${ageText(timeOf(event), nowMs)}${times > 1 ? ` (x${times})` : ''}`
      return [
        event.type ?? '',
        event.reason ?? '',
        age,
        event.source?.component || event.reportingComponent || '',
        event.message ?? '',
      ]
    })
  return table('Events', ['TYPE', 'REASON', 'AGE', 'FROM', 'MESSAGE'], rows)
}
