// The data of a running cluster: the Kubernetes API, and the endpoints of the UI.
import type { FlowEvent, FlowObject } from '../../../base/observability/flow-recorder.ts'
import { decisionsPath, flowEventsPath } from '../../../api/coxswain/v1/flow-protocol.ts'
import { LiveActions } from './live-actions.ts'
import { readJsonLines } from './json-lines.ts'
import { fetchJson, fetchOk } from './requests.ts'
import { resourcePath } from './resource-path.ts'
import type {
  Actions,
  ClusterObject,
  HistoryEntry,
  Resource,
  RevisionRange,
  RowChange,
  SchedulingDecision,
  Source,
  Table,
} from './source.ts'

const tableType = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json'
const discoveryType = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
const uiPath = '/ui/api'

export class LiveSource implements Source {
  readonly title: string
  readonly isLive = true
  readonly actions: Actions = new LiveActions()

  constructor(title: string) {
    this.title = title
  }

  async followEvents(
    onEvents: (events: readonly FlowEvent[], gap: boolean) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const stream = await fetch(`${uiPath}/stream`, { signal })
    const response = stream.ok ? stream : await fetchOk(`${flowEventsPath}?follow=true`, { signal })
    if (response.body === null) return
    await readJsonLines(response.body, (values) => onEvents(values.flatMap(eventsOf), values.some(isGap)))
  }

  async resources(): Promise<readonly Resource[]> {
    const init = { headers: { accept: discoveryType } }
    const lists = await Promise.all(['/api', '/apis'].map((path) => fetchJson<DiscoveryList>(path, init)))
    return lists.flatMap(({ items }) => items.flatMap(resourcesOf))
  }

  async followTable(
    resource: Resource,
    revision: number | undefined,
    onChange: (change: RowChange) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const query = new URLSearchParams({ includeObject: 'Object' })
    if (revision !== undefined) {
      query.set('resourceVersion', String(revision))
      query.set('resourceVersionMatch', 'Exact')
    }
    const headers = { accept: tableType }
    const list = await fetchJson<WireTable>(`${resourcePath(resource)}?${query}`, { headers, signal })
    onChange({ kind: 'replace', table: tableOf(list) })
    if (revision !== undefined || !resource.verbs.includes('watch')) return
    const from = new URLSearchParams({
      ...Object.fromEntries(query),
      watch: '1',
      resourceVersion: list.metadata.resourceVersion,
    })
    const watch = await fetchOk(`${resourcePath(resource)}?${from}`, { headers, signal })
    if (watch.body === null) return
    await readJsonLines(watch.body, (values) => {
      for (const value of values) {
        const { type, object } = value as { type: string; object: WireTable }
        const [row] = type === 'ERROR' || type === 'BOOKMARK' ? [] : tableOf(object).rows
        if (row !== undefined)
          onChange(type === 'DELETED' ? { kind: 'remove', object: row.object } : { kind: 'set', row })
      }
    })
  }

  async list(resource: Resource, namespace: string, fieldSelector = ''): Promise<readonly ClusterObject[]> {
    const query = fieldSelector === '' ? '' : `?fieldSelector=${encodeURIComponent(fieldSelector)}`
    return (await fetchJson<{ items: ClusterObject[] }>(`${resourcePath(resource, namespace)}${query}`)).items
  }

  async history(resource: Resource, { namespace, name }: FlowObject): Promise<readonly HistoryEntry[]> {
    const query = new URLSearchParams({ ...named(resource), namespace, name })
    const found = await fetchJson<{ revisions?: HistoryEntry[] }>(`${uiPath}/history?${query}`)
    return found.revisions ?? []
  }

  async why(resource: Resource, { namespace, name }: FlowObject): Promise<readonly string[]> {
    const query = new URLSearchParams({ ...named(resource), namespace, name })
    const { waits = [] } = await fetchJson<{ waits?: string[] }>(`${uiPath}/why?${query}`)
    return waits
  }

  async decision({ namespace, name }: FlowObject): Promise<SchedulingDecision | undefined> {
    const response = await fetch(`${decisionsPath}${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`)
    return response.ok ? ((await response.json()) as SchedulingDecision) : undefined
  }

  async revisions(): Promise<RevisionRange | undefined> {
    const response = await fetch(`${uiPath}/revisions`)
    return response.ok ? ((await response.json()) as RevisionRange) : undefined
  }
}

const named = ({ group, version, plural }: Resource): Record<string, string> => ({ group, version, resource: plural })

/** A line of the stream is one event, or a batch with a mark for events that the server had to omit. */
const eventsOf = (value: unknown): readonly FlowEvent[] => {
  const line = value as FlowEvent & { events?: readonly FlowEvent[] }
  return line.events ?? (line.arrow === undefined ? [] : [line])
}
const isGap = (value: unknown): boolean => (value as { gap?: unknown }).gap !== undefined

interface WireTable {
  readonly metadata: { readonly resourceVersion: string }
  readonly columnDefinitions?: readonly { readonly name: string; readonly priority: number }[]
  readonly rows?: readonly { readonly cells: readonly unknown[]; readonly object: ClusterObject }[]
}

const tableOf = ({ columnDefinitions = [], rows = [] }: WireTable): Table => ({
  columns: columnDefinitions.map(({ name, priority }) => ({ name, priority })),
  rows: rows.map(({ cells, object }) => ({ cells, object })),
})

interface DiscoveryList {
  readonly items: readonly DiscoveryGroup[]
}
interface DiscoveryGroup {
  readonly metadata?: { readonly name?: string }
  readonly versions: readonly {
    readonly version: string
    readonly resources?: readonly {
      readonly resource: string
      readonly scope: string
      readonly verbs: readonly string[]
      readonly responseKind?: { readonly kind: string }
    }[]
  }[]
}

/** The resources of a group in its preferred version, which is the first that has them. */
function resourcesOf({ metadata, versions }: DiscoveryGroup): Resource[] {
  const seen = new Map<string, Resource>()
  for (const { version, resources = [] } of versions)
    for (const { resource: plural, scope, verbs, responseKind } of resources) {
      if (!verbs.includes('list') || seen.has(plural)) continue
      const isNamespaced = scope === 'Namespaced'
      const group = metadata?.name ?? ''
      seen.set(plural, { group, version, plural, kind: responseKind?.kind ?? plural, isNamespaced, verbs })
    }
  return [...seen.values()]
}
