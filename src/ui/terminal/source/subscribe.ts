// subscribe: reads what a view shows, and reports it until the signal is aborted. Only the shown view has a subscription.
import type { Event } from '../../../api/core/v1/event.ts'
import type { Pod } from '../../../api/core/v1/pod/pod.ts'
import type { ApiObject } from '../../../api/meta/object.ts'
import { errorText } from '../../../base/observability/log.ts'
import { yamlText } from '../../page/model/yaml-text.ts'
import { resourceNamed, type ObjectRef, type Resource } from '../state/resources.ts'
import type { RowChange } from '../state/rows.ts'
import type { Data } from '../state/state.ts'
import type { TableSource, TextSource, View } from '../state/views.ts'
import { containerColumns, containerRows } from './container-rows.ts'
import { describeLines } from './describe.ts'
import { subscribeFlow } from './flow-data.ts'
import { followList, type ListDeps, type ListPage } from './follow-list.ts'
import { followLogs } from './logs.ts'
import { jsonType, targetOf } from './server-api.ts'
import { listEverySeconds, replacement, rowChange, tableType, type WireTable } from './table-rows.ts'
import { followUsage, metricsResource, UsageColumns, type usageIn } from './usage.ts'

export type Report = (data: Data) => void

export async function subscribe(
  view: View,
  resources: readonly Resource[],
  deps: ListDeps,
  report: Report,
  signal: AbortSignal,
): Promise<void> {
  const { id } = view
  const failed = (reason: string): void => report({ kind: 'failed', id, reason })
  try {
    switch (view.kind) {
      case 'table':
        return await subscribeTable(id, view.source, resources, deps, report, signal)
      case 'text':
        return await subscribeText(id, view.source, resources, deps, report, signal)
      case 'flow':
      case 'map':
        return await subscribeFlow(view, deps, report, signal)
      default:
        return view satisfies never
    }
  } catch (error) {
    if (!signal.aborted) failed(errorText(error))
  }
}

async function subscribeTable(
  id: number,
  source: TableSource,
  resources: readonly Resource[],
  deps: ListDeps,
  report: Report,
  signal: AbortSignal,
): Promise<void> {
  if (source.kind === 'containers') {
    const shown = (pod: ApiObject | undefined): void => {
      const rows = pod === undefined ? [] : containerRows(pod as Pod)
      report({ kind: 'rows', id, change: { kind: 'replace', columns: containerColumns, rows } })
    }
    return followObject(id, source.pod, shown, deps, report, signal)
  }
  if (source.kind !== 'list') return
  const { resource, namespace, selector } = source
  const { labelSelector, fieldSelector } = selector ?? {}
  const list = {
    target: (query: object) => targetOf(resource, { namespace }, { labelSelector, fieldSelector, ...query }),
    accept: tableType,
    isWatchable: resource.verbs.includes('watch'),
    listEverySeconds,
  }
  const metrics = metricsResource(resource, resources)
  const columns = metrics === undefined ? undefined : new UsageColumns()
  const rows = (change: RowChange): void => report({ kind: 'rows', id, change: columns?.rows(change) ?? change })
  const followed = followList<WireTable>(
    list,
    {
      listed: (pages) => rows(replacement(pages)),
      changed: (events) => rows(rowChange(events)),
      failed: (reason) => report({ kind: 'failed', id, reason }),
    },
    deps,
    signal,
  )
  if (metrics === undefined || columns === undefined) return followed
  const used = (usage: ReturnType<typeof usageIn> | undefined): void =>
    report({ kind: 'rows', id, change: columns.used(usage) })
  await Promise.all([followed, followUsage(metrics, { namespace, labelSelector }, used, deps, signal)])
}

/** Reports the object, and undefined when it does not exist. */
function followObject(
  id: number,
  { resource, namespace, name }: ObjectRef,
  shown: (object: ApiObject | undefined) => void,
  deps: ListDeps,
  report: Report,
  signal: AbortSignal,
): Promise<void> {
  const apiVersion = resource.group === '' ? resource.version : `${resource.group}/${resource.version}`
  // Items of lists have no type.
  const typed = (object: ApiObject): ApiObject => ({ ...object, apiVersion, kind: resource.kind })
  const fieldSelector = `metadata.name=${name}`
  return followList<ListPage & { readonly items?: readonly ApiObject[] }>(
    {
      target: (query) => targetOf(resource, { namespace }, { fieldSelector, ...query }),
      accept: jsonType,
      isWatchable: resource.verbs.includes('watch'),
    },
    {
      listed([page]) {
        const object = page?.items?.[0]
        shown(object === undefined ? undefined : typed(object))
      },
      changed(events) {
        const last = events.at(-1)
        shown(last === undefined || last.type === 'DELETED' ? undefined : typed(last.object as ApiObject))
      },
      failed: (reason) => report({ kind: 'failed', id, reason }),
    },
    deps,
    signal,
  )
}

async function subscribeText(
  id: number,
  source: TextSource,
  resources: readonly Resource[],
  deps: ListDeps,
  report: Report,
  signal: AbortSignal,
): Promise<void> {
  const text = (lines: readonly string[]): void => report({ kind: 'text', id, lines })
  switch (source.kind) {
    case 'help':
    case 'kinds':
      return
    case 'logs':
      return followLogs(source, resources, deps, text, signal)
    case 'why':
      return text(await deps.api.why(source.object, signal))
    case 'yaml':
      return followObject(id, source.object, (object) => text(yamlLines(object, source.object)), deps, report, signal)
    case 'describe':
      return describe(id, source.object, resources, deps, report, signal)
    default:
      return source satisfies never
  }
}

const goneText = ({ resource, name }: ObjectRef): string => `${resource.singular} ${name} does not exist any more`

function yamlLines(object: ApiObject | undefined, of: ObjectRef): string[] {
  if (object === undefined) return [goneText(of)]
  const { apiVersion, kind, metadata, ...fields } = object
  const { managedFields: _, ...shown } = metadata
  return yamlText({ apiVersion, kind, metadata: shown, ...fields })
    .trimEnd()
    .split('\n')
}

/** The object and its events are both followed. */
async function describe(
  id: number,
  of: ObjectRef,
  resources: readonly Resource[],
  deps: ListDeps,
  report: Report,
  signal: AbortSignal,
): Promise<void> {
  let object: ApiObject | undefined
  let isKnown = false
  const events = new Map<string, Event>()
  const show = (): void => {
    if (!isKnown) return
    const lines =
      object === undefined ? [goneText(of)] : describeLines(object, [...events.values()], deps.clock.nowMs())
    report({ kind: 'text', id, lines })
  }
  const followed = followObject(
    id,
    of,
    (next) => {
      isKnown = true
      object = next
      show()
    },
    deps,
    report,
    signal,
  )
  const resource = resourceNamed('events', resources)
  if (resource === undefined) return followed
  const fieldSelector = `involvedObject.kind=${of.resource.kind},involvedObject.name=${of.name}`
  const set = (event: Event): unknown => events.set(event.metadata.name, event)
  await Promise.all([
    followed,
    followList<ListPage & { readonly items?: readonly Event[] }>(
      {
        target: (query) => targetOf(resource, { namespace: of.namespace }, { fieldSelector, ...query }),
        accept: jsonType,
        isWatchable: true,
      },
      {
        listed(pages) {
          events.clear()
          for (const event of pages.flatMap(({ items = [] }) => items)) set(event)
          show()
        },
        changed(changes) {
          for (const { type, object: event } of changes)
            if (type === 'DELETED') events.delete((event as Event).metadata.name)
            else set(event as Event)
          show()
        },
        // The description is useful without events.
        failed: () => undefined,
      },
      deps,
      signal,
    ),
  ])
}
