// The data of a running cluster: the Kubernetes API, and the endpoints of the UI.
import type { FlowEvent, FlowObject } from '../../../base/observability/flow-recorder.ts'
import { decisionsPath } from '../../../api/coxswain/v1/flow-protocol.ts'
import { explanationLines } from '../../../flows/why/explanation-text.ts'
import type { Why } from '../../../flows/why/why.ts'
import { LiveActions } from './live-actions.ts'
import type { OverviewSource } from './overview.ts'
import { readJsonLines } from './json-lines.ts'
import { fetchJson, fetchOk, RequestError, uiHeaders } from './requests.ts'
import { resourcePath } from './resource-path.ts'
import {
  historyEntry,
  recentMax,
  resourceId,
  type Actions,
  type ClusterObject,
  type DescribedRevision,
  type FoundObject,
  type HistoryEntry,
  type ListOptions,
  type PastPage,
  type Resource,
  type RevisionMark,
  type RevisionRange,
  type RowChange,
  type SchedulingDecision,
  type Source,
  type Table,
} from './source.ts'

const tableType = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json'
const metadataType = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json'
const discoveryType = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
const uiPath = '/ui/api'
/** After what the first view shows, all events follow in pages, the newest first. */
const pageEvents = 2_000
/** Lists are paged, so that parsing a large one does not block the page. */
const pageObjects = 500

export class LiveSource implements Source {
  readonly title: string
  readonly isLive = true
  hasFlows = true
  readonly actions: Actions = new LiveActions()
  readonly summaries: OverviewSource = {
    overview: (namespace, signal) => fetchJson(`${uiPath}/overview?${new URLSearchParams({ namespace })}`, { signal }),
    problems: (namespace, signal) => fetchJson(`${uiPath}/problems?${new URLSearchParams({ namespace })}`, { signal }),
  }

  constructor(title: string) {
    this.title = title
  }

  async followEvents(
    onEvents: (events: readonly FlowEvent[], gap: boolean) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const response = await fetchOk(`${uiPath}/stream?past=0&recent=${recentMax}`, { signal })
    if (response.body === null) return
    const pass = pastAtOnce(onEvents)
    await readJsonLines(response.body, (lines) => {
      if (lines.some((line) => (line as StreamLine).isRecorded === false)) this.hasFlows = false
      pass(lines)
    })
  }

  async pastEvents(before: number | undefined, signal: AbortSignal): Promise<PastPage | undefined> {
    const query = new URLSearchParams({ count: String(pageEvents) })
    if (before !== undefined) query.set('before', String(before))
    const response = await fetchOk(`${uiPath}/events?${query}`, { signal })
    if (response.body === null) return undefined
    const lines: unknown[] = []
    await readJsonLines(response.body, (values) => lines.push(...values))
    const page = lines.find(isKind('page')) as { readonly before: number } | undefined
    return { events: lines.flatMap(eventsOf), before: page?.before ?? 0 }
  }

  async resources(): Promise<readonly Resource[]> {
    const init = { headers: { accept: discoveryType } }
    const lists = await Promise.all(['/api', '/apis'].map((path) => fetchJson<DiscoveryList>(path, init)))
    return lists.flatMap(({ items }) => items.flatMap(resourcesOf))
  }

  async user(): Promise<string | undefined> {
    const [apiVersion, kind] = ['authentication.k8s.io/v1', 'SelfSubjectReview']
    const review = await fetchJson<SelfSubjectReview>(`/apis/${apiVersion}/selfsubjectreviews`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...uiHeaders },
      body: JSON.stringify({ apiVersion, kind }),
    })
    return review.status?.userInfo?.username
  }

  async count(resource: Resource, namespace: string, signal: AbortSignal): Promise<number | undefined> {
    const init = { headers: { accept: metadataType }, signal }
    const { items, metadata } = await fetchJson<CountedList>(`${resourcePath(resource, namespace)}?limit=1`, init)
    return items.length + (metadata.remainingItemCount ?? 0)
  }

  async search(text: string, namespace: string, signal: AbortSignal): Promise<readonly FoundObject[]> {
    const query = new URLSearchParams({ text, namespace })
    const { objects } = await fetchJson<WireSearch>(`${uiPath}/search?${query}`, { signal })
    return objects.map(({ group, resource, ...rest }) => ({
      ...rest,
      resource: resourceId({ group, plural: resource }),
    }))
  }

  async followTable(
    resource: Resource,
    { namespace, revision }: Pick<ListOptions, 'namespace' | 'revision'>,
    onChange: (change: RowChange) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const query = new URLSearchParams({ includeObject: 'Object', ...atRevision(revision) })
    const headers = { accept: tableType }
    const path = resourcePath(resource, namespace)
    const read = (parameters: URLSearchParams): Promise<WireTable> =>
      fetchJson(`${path}?${parameters}`, { headers, signal })
    query.set('limit', String(pageObjects))
    let list = await read(query)
    onChange({ kind: 'replace', table: tableOf(list) })
    while (list.metadata.continue) {
      const next = { includeObject: 'Object', limit: String(pageObjects), continue: list.metadata.continue }
      list = await read(new URLSearchParams(next))
      for (const row of tableOf(list).rows) onChange({ kind: 'set', row })
    }
    if (revision !== undefined || !resource.verbs.includes('watch')) return
    const { resourceVersion } = list.metadata
    const from = new URLSearchParams({ includeObject: 'Object', watch: '1', resourceVersion })
    const watch = await fetchOk(`${path}?${from}`, { headers, signal })
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

  async list(
    resource: Resource,
    { namespace, revision, fieldSelector, labelSelector }: ListOptions,
  ): Promise<readonly ClusterObject[]> {
    const query = new URLSearchParams(atRevision(revision))
    if (fieldSelector !== undefined) query.set('fieldSelector', fieldSelector)
    if (labelSelector !== undefined) query.set('labelSelector', labelSelector)
    return (await fetchJson<{ items: ClusterObject[] }>(`${resourcePath(resource, namespace)}?${query}`)).items
  }

  async history(resource: Resource, { namespace, name }: FlowObject): Promise<readonly HistoryEntry[]> {
    const query = new URLSearchParams({ ...named(resource), namespace, name })
    const { revisions } = await fetchJson<WireHistory>(`${uiPath}/history?${query}`)
    return revisions.map(historyEntry).toReversed()
  }

  async why(resource: Resource, { namespace, name }: FlowObject): Promise<readonly string[]> {
    const query = new URLSearchParams({ ...named(resource), namespace, name })
    const { waits = [], notes = [], fixes = [] } = await fetchJson<Partial<Why>>(`${uiPath}/why?${query}`)
    return waits.length === 0 ? [] : explanationLines({ waits, notes, fixes })
  }

  async decision({ namespace, name }: FlowObject): Promise<SchedulingDecision | undefined> {
    const response = await fetch(`${decisionsPath}${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`)
    return response.ok ? ((await response.json()) as SchedulingDecision) : undefined
  }

  async revisions(): Promise<RevisionRange | undefined> {
    try {
      const { oldest, newest, marks } = await fetchJson<WireRevisions>(`${uiPath}/revisions`)
      return { oldest: oldest.revision, newest: newest.revision, marks }
    } catch (error) {
      // The past of another cluster than Coxswain's cannot be listed.
      if (error instanceof RequestError && error.code === 404) return undefined
      throw error
    }
  }
}

/** The parameters of a list that show the objects as they were. */
const atRevision = (revision: number | undefined): Record<string, string> =>
  revision === undefined ? {} : { resourceVersion: String(revision), resourceVersionMatch: 'Exact' }

const named = ({ group, version, plural }: Resource): Record<string, string> => ({ group, version, resource: plural })

/** A line of the stream: an event, a gap where events were omitted, or rates, which the page computes itself. */
interface StreamLine {
  readonly kind: string
  readonly event?: FlowEvent
  readonly isRecorded?: boolean
}
const eventsOf = (value: unknown): readonly FlowEvent[] => {
  const { event } = value as StreamLine
  return event === undefined ? [] : [event]
}
const isKind = (kind: string) => (value: unknown) => (value as StreamLine).kind === kind

/** What was recorded before is passed on in one batch, so that it is drawn once; what follows as it arrives. */
export function pastAtOnce(
  onEvents: (events: readonly FlowEvent[], gap: boolean) => void,
): (lines: readonly unknown[]) => void {
  let past: unknown[] | undefined = []
  return (lines) => {
    past?.push(...lines)
    if (past !== undefined && !lines.some(isKind('ready'))) return
    const isFirst = past !== undefined
    const ready = past ?? lines
    past = undefined
    const events = ready.flatMap(eventsOf)
    const hasGap = ready.some(isKind('gap'))
    if (isFirst || events.length > 0 || hasGap) onEvents(events, hasGap)
  }
}

interface WireHistory {
  /** The newest first. */
  readonly revisions: readonly DescribedRevision[]
}

interface WireRevisions {
  readonly oldest: { readonly revision: number }
  readonly newest: { readonly revision: number }
  readonly marks: readonly RevisionMark[]
}

interface WireSearch {
  readonly objects: readonly (FoundObject & { readonly group: string })[]
}

interface CountedList {
  readonly metadata: { readonly remainingItemCount?: number }
  readonly items: readonly unknown[]
}

interface SelfSubjectReview {
  readonly status?: { readonly userInfo?: { readonly username?: string } }
}

interface WireTable {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string }
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
