// One object: why it is not healthy, and tabs for its summary, YAML, history, relations, events, logs, terminal and scheduling.
import { html, nothing, type TemplateResult } from 'lit'
import type { FlowObject } from '../../../base/observability/flow-recorder.ts'
import type { App } from '../state/app.ts'
import { yamlText } from '../model/yaml-text.ts'
import { historyDiff, withoutManagedFields } from '../state/object-details.ts'
import { hasPods } from '../model/summary/summary.ts'
import { resourceId, type ClusterObject } from '../source/source.ts'
import { objectButtons } from './object-buttons.ts'
import { diffView } from './frame/diff-view.ts'
import { editTab } from './edit-tab.ts'
import { reachTab } from './reach-tab.ts'
import { relationsTab } from './relations-tab.ts'
import { schedulingTab } from './scheduling-tab.ts'
import { sinceView, summaryTab } from './summary-tab.ts'
import { logsTab } from './logs-tab.ts'
import { terminalTab } from './terminal-tab.ts'

interface Tab {
  readonly name: string
  readonly view: (app: App, object: ClusterObject) => TemplateResult
  readonly isShown: (app: App) => boolean
  /** Shown of an object that does not exist any more too; it gets an empty object then. */
  readonly isAlsoPast?: boolean
}

const tabs: readonly Tab[] = [
  { name: 'Summary', view: summaryTab, isShown: () => true },
  { name: 'YAML', view: yamlTab, isShown: () => true },
  { name: 'History', view: historyTab, isShown: () => true, isAlsoPast: true },
  { name: 'Relations', view: relationsTab, isShown: () => true },
  { name: 'Events', view: eventsTab, isShown: () => true, isAlsoPast: true },
  { name: 'Scheduling', view: schedulingTab, isShown: isPod },
  { name: 'Reach', view: reachTab, isShown: (app) => isPod(app) && app.canAct },
  { name: 'Logs', view: logsTab, isShown: (app) => hasLogs(app) && app.canAct },
  { name: 'Terminal', view: terminalTab, isShown: (app) => isPod(app) && app.canAct },
  {
    name: 'Edit',
    view: editTab,
    isShown: (app) => app.canAct,
  },
]

/** Pods, and what has pods. */
function hasLogs(app: App): boolean {
  const { resource } = app.details
  return resource !== undefined && (isPod(app) || hasPods(resourceId(resource)))
}

function isPod(app: App): boolean {
  return app.location.object?.resource === 'pods'
}

export function objectView(app: App, selected: FlowObject): TemplateResult {
  const object = shownObject(app, selected)
  const resource = app.resourceOfObject(selected)
  const shown = tabs.filter(({ isShown }) => isShown(app))
  const current = shown.find(({ name }) => name === app.location.tab) ?? shown[0]
  const { why } = app.details
  return html`<article class="object" aria-label=${`${selected.resource} ${selected.name}`}>
    <div class="bar">
      <h2>${resource?.kind ?? selected.resource} ${selected.name}</h2>
      ${objectButtons(app, resource, object === undefined ? [] : [object])}
      <button @click=${() => app.go({ view: 'flows' })}>Flow</button>
      <button aria-label="Close" @click=${() => app.selectObject(undefined)}>✕</button>
    </div>
    ${why.length === 0 ? nothing : html`<div class="why" role="note">${why.map((sentence) => html`<p>${sentence}</p>`)}</div>`}
    <div
      class="tabs"
      role="tablist"
      @keydown=${(key: KeyboardEvent) =>
        onTabKey(
          app,
          key,
          shown.map(({ name }) => name),
        )}
    >
      ${shown.map(({ name }) => html`<button role="tab" aria-selected=${name === current?.name} tabindex=${name === current?.name ? 0 : -1} @click=${() => app.go({ tab: name })}>${name}</button>`)}
    </div>
    <div class="tab" role="tabpanel" tabindex="0" aria-label=${current?.name ?? ''}>
      ${object === undefined ? html`<p class="empty">${app.table.isLoaded ? `This object does not exist${app.location.revision === undefined ? '' : ' at this time'}.` : 'Loading…'}</p>` : nothing}
      ${object === undefined && current?.isAlsoPast !== true ? nothing : current?.view(app, object ?? { metadata: { name: selected.name } })}
    </div>
  </article>`
}

/** The object as the list has it, or as it was at the shown revision. */
function shownObject(app: App, { resource, namespace, name }: FlowObject): ClusterObject | undefined {
  const isListed = app.resourceOf(app.location.resource)?.plural === resource
  const { revision = Infinity } = app.location
  const row = isListed ? app.table.get(namespace, name) : undefined
  return row?.object ?? app.details.history.findLast((entry) => entry.revision <= revision)?.object
}

function onTabKey(app: App, { key, currentTarget }: KeyboardEvent, names: readonly string[]): void {
  const step = key === 'ArrowRight' ? 1 : key === 'ArrowLeft' ? -1 : 0
  if (step === 0) return
  const at = Math.max(0, names.indexOf(app.location.tab))
  const next = (at + step + names.length) % names.length
  app.go({ tab: names[next] ?? '' })
  ;((currentTarget as Element).children[next] as HTMLElement | undefined)?.focus()
}

function yamlTab(_app: App, object: ClusterObject): TemplateResult {
  const { managedFields = [] } = object.metadata
  return html`<pre class="yaml">${yamlText(withoutManagedFields(object))}</pre>
    ${
      managedFields.length === 0
        ? nothing
        : html`<details>
            <summary>Managed fields of ${managedFields.length} managers</summary>
            <pre class="yaml">${yamlText(managedFields)}</pre>
          </details>`
    }`
}

function historyTab(app: App): TemplateResult {
  const { history } = app.details
  if (history.length === 0) return html`<p class="empty">No revision of it is retained.</p>`
  const entries = history.map((entry, at) => ({ entry, at })).toReversed()
  return html`${entries.map(
    ({ entry, at }) =>
      html`<details class="revision" ?open=${at === history.length - 1}>
        <summary>
          revision ${entry.revision}, ${entry.at}, by ${entry.author}${entry.object === undefined ? ': deleted' : ''}
        </summary>
        ${diffView(historyDiff(history, at))}
      </details>`,
  )}`
}

interface EventFields {
  readonly type?: string
  readonly reason?: string
  readonly message?: string
  readonly count?: number
  readonly firstTimestamp?: string | null
  readonly lastTimestamp?: string | null
  readonly eventTime?: string | null
  readonly series?: { readonly count?: number; readonly lastObservedTime?: string }
  readonly source?: { readonly component?: string }
  readonly reportingComponent?: string
}

/** When an event was last seen: series and older events have it in other fields. */
const lastSeen = ({ series, lastTimestamp, eventTime, firstTimestamp }: EventFields): string =>
  series?.lastObservedTime ?? lastTimestamp ?? eventTime ?? firstTimestamp ?? ''

function eventsTab(app: App): TemplateResult {
  const { events } = app.details
  if (events.length === 0) return html`<p class="empty">There are no events about it.</p>`
  const fields = events.map((each): EventFields & ClusterObject => each)
  const newestFirst = fields.toSorted((a, b) => (lastSeen(a) < lastSeen(b) ? 1 : -1))
  if (app.ageMs !== undefined) app.drawAgain(1_000)
  return html`<div class="wide" tabindex="0" role="group" aria-label="Events">
    <table>
      <thead>
        <tr>
          <th scope="col">Last seen</th>
          <th scope="col">Type</th>
          <th scope="col">Reason</th>
          <th scope="col">Count</th>
          <th scope="col">From</th>
          <th scope="col">Message</th>
        </tr>
      </thead>
      <tbody>
        ${newestFirst.map((each) => {
          const { type = '', reason = '', message = '', series, source, reportingComponent } = each
          const { firstTimestamp, metadata } = each
          const since = lastSeen(each) || (metadata.creationTimestamp ?? '')
          const count = series?.count ?? each.count ?? 1
          return html`<tr class=${type === 'Warning' ? 'failed' : ''}>
            <td class="age">${sinceView(app, since)}</td>
            <td>${type}</td>
            <td>${reason}</td>
            <td class="age">
              ${count}${count > 1 && firstTimestamp ? html` since ${sinceView(app, firstTimestamp)}` : nothing}
            </td>
            <td>${reportingComponent || source?.component}</td>
            <td class="long">${message}</td>
          </tr>`
        })}
      </tbody>
    </table>
  </div>`
}
