// The list of a resource with kubectl's columns: states in color, ages that advance, links to owners and nodes. Only the rows in the
// window are in the document.
import { html, nothing, type TemplateResult } from 'lit'
import { live } from 'lit/directives/live.js'
import { ageText } from '../../../api/columns/age.ts'
import { cellState } from '../model/cell-states.ts'
import { kindLabel } from '../model/kind-sections.ts'
import { elsewhere, fragmentOf } from '../model/permalink.ts'
import { cellText, rowKey } from '../model/table-model.ts'
import { resourceId, type OwnerReference, type TableRow } from '../source/source.ts'
import type { App } from '../state/app.ts'
import { selectedMax } from '../state/row-selection.ts'
import { createButton } from './create-view.ts'
import { failureView } from './frame/failure-view.ts'
import { objectButtons } from './object-buttons.ts'

const rowPx = 28
/** Rows before and after those that are visible. */
const marginRows = 10
/** Ages have seconds for the first minutes. */
const ageStepMs = 1_000
/** Kinds whose objects usually have an owner. */
const ownedKinds: ReadonlySet<string> = new Set(['pods', 'replicasets.apps', 'jobs.batch'])

/** A column of the list. `at` is its place in the cells of the server; undefined for those that the page adds. */
interface ShownColumn {
  readonly name: string
  readonly at: number | undefined
}

export function listView(app: App): TemplateResult {
  const { resource, namespace, revision, search, sort } = app.location
  const { table } = app
  const question = JSON.stringify([resource, namespace, revision, search, sort])
  const keys = app.listKeys.get(question, table.version, () => table.keys({ search, sort }))
  const columns = shownColumns(app)
  const first = Math.max(0, Math.floor(app.listScrollPx / rowPx) - marginRows)
  const windowRows = Math.ceil(globalThis.innerHeight / rowPx) + 2 * marginRows
  const shown = keys.slice(first, first + windowRows)
  if (app.ageMs !== undefined) app.drawAgain(ageStepMs)
  return html`<div class="list">
    <div class="bar">
      <input
        type="search"
        aria-label="Search by name, label, image or reason"
        placeholder="name, label, image, reason"
        .value=${search}
        @input=${(input: Event) => app.go({ search: (input.target as HTMLInputElement).value })}
      />
      <span class="count" role="status">${keys.length} of ${table.size}</span>
      ${createButton(app)}
    </div>
    ${selectionBar(app)} ${failureView(app, 'list')}
    <div
      class="rows"
      tabindex="0"
      role="group"
      aria-label=${`${keys.length} ${resource}`}
      @scroll=${(scroll: Event) => onScroll(app, scroll)}
    >
      <table aria-rowcount=${keys.length + 1}>
        <thead>
          <tr>
            ${app.canAct ? html`<th class="select" scope="col">${selectAllView(app, keys)}</th>` : nothing}${columns.map(({ name }) => headView(app, name))}
          </tr>
        </thead>
        <tbody>
          <tr class="space" aria-hidden="true" .style=${`height:${first * rowPx}px`}></tr>
          ${shown.map((key, at) => {
            const row = table.at(key)
            return row === undefined ? nothing : rowView(app, row, columns, first + at)
          })}
          <tr
            class="space"
            aria-hidden="true"
            .style=${`height:${Math.max(0, keys.length - first - shown.length) * rowPx}px`}
          ></tr>
        </tbody>
      </table>
      ${keys.length === 0 && app.failures.get('list') === undefined ? html`<p class="empty">${emptyText(app)}</p>` : nothing}
    </div>
  </div>`
}

/** The selected rows that still exist, and what can be done with them. */
function selectionBar(app: App): TemplateResult | typeof nothing {
  const { selection, table } = app
  if (selection.size === 0 || !app.canAct) return nothing
  const objects = [...selection.keys()].flatMap((key) => table.at(key)?.object ?? [])
  const clear = (): void => {
    selection.clear()
    app.changed()
  }
  return html`<div class="bar selection" role="group" aria-label="Selected objects">
    <span role="status">${objects.length} selected${selection.size === selectedMax ? ', the most at a time' : ''}</span>
    ${objectButtons(app, app.resourceOf(app.location.resource), objects)}
    <button @click=${clear}>Clear</button>
  </div>`
}

function selectAllView(app: App, keys: readonly string[]): TemplateResult {
  const { selection } = app
  return html`<input
    type="checkbox"
    aria-label="Select all"
    ?disabled=${keys.length === 0}
    .checked=${live(selection.size > 0 && selection.size === Math.min(keys.length, selectedMax))}
    @change=${() => {
      selection.toggleAll(keys)
      app.changed()
    }}
  />`
}

function selectView(app: App, { object }: TableRow): TemplateResult {
  const key = rowKey(object)
  return html`<input
    type="checkbox"
    aria-label=${`Select ${object.metadata.name}`}
    .checked=${live(app.selection.has(key))}
    @change=${() => {
      app.selection.toggle(key)
      app.changed()
    }}
  />`
}

function emptyText(app: App): string {
  const { table } = app
  const { search, namespace, resource: id } = app.location
  if (!table.isLoaded) return 'Loading…'
  const resource = app.resourceOf(id)
  const label = resource === undefined ? id : kindLabel(resource)
  const place = namespace === '' || resource?.isNamespaced !== true ? '' : ` in the namespace ${namespace}`
  return table.size > 0 && search !== '' ? `No ${label}${place} contain “${search}”.` : `There are no ${label}${place}.`
}

/** The columns of the server that are not only for wide lists; the node of a pod, and owners, unless an object needs the space. */
function shownColumns(app: App): readonly ShownColumn[] {
  const { location, table } = app
  const isNarrow = location.object !== undefined
  const resource = app.resourceOf(location.resource)
  const columns = table.columns.flatMap(({ name, priority }, at): ShownColumn[] =>
    priority === 0 || (name === 'Node' && !isNarrow) ? [{ name, at }] : [],
  )
  return [
    ...(resource?.isNamespaced === true && location.namespace === '' ? [{ name: 'Namespace', at: undefined }] : []),
    ...columns,
    ...(resource !== undefined && ownedKinds.has(resourceId(resource)) && !isNarrow
      ? [{ name: 'Owner', at: undefined }]
      : []),
  ]
}

function headView(app: App, name: string): TemplateResult {
  const { sort } = app.location
  const isAscending = sort === name || (sort === '' && name === 'Name')
  const isDescending = sort === `-${name}`
  const next = isAscending ? `-${name}` : name
  return html`<th scope="col" aria-sort=${isAscending ? 'ascending' : isDescending ? 'descending' : 'none'}>
    <button class="sort" @click=${() => app.go({ sort: next })}>${name}</button>
  </th>`
}

function onScroll(app: App, scroll: Event): void {
  app.listScrollPx = (scroll.currentTarget as Element).scrollTop
  app.changed()
}

function rowView(app: App, row: TableRow, columns: readonly ShownColumn[], index: number): TemplateResult {
  const { name, namespace = '' } = row.object.metadata
  const { object, resource } = app.location
  const plural = app.resourceOf(resource)?.plural ?? resource
  const isSelected = object?.name === name && object.namespace === namespace && object.resource === plural
  return html`<tr class=${isSelected ? 'selected' : ''} aria-rowindex=${index + 2} data-name=${name}>
    ${app.canAct ? html`<td class="select">${selectView(app, row)}</td>` : nothing}
    ${columns.map(({ name: column, at }) => html`<td>${cellView(app, row, column, at)}</td>`)}
  </tr>`
}

function cellView(app: App, { object, cells }: TableRow, column: string, at: number | undefined): unknown {
  const { metadata } = object
  if (at === undefined)
    return column === 'Owner' ? ownerLink(app, metadata.ownerReferences, metadata.namespace) : metadata.namespace
  if (at === 0) {
    const selected = {
      resource: app.resourceOf(app.location.resource)?.plural ?? app.location.resource,
      namespace: metadata.namespace ?? '',
      name: metadata.name,
    }
    return html`<button class="link" @click=${() => app.selectObject(selected)}>${cellText(cells[at])}</button>`
  }
  const { ageMs } = app
  if (column === 'Age' && ageMs !== undefined) return ageText(metadata.creationTimestamp, ageMs)
  const text = cellText(cells[at])
  if (column === 'Node' && app.resourceOf(app.location.resource)?.plural === 'pods')
    return nodeLink(app, object.spec?.['nodeName'])
  const state = metadata.deletionTimestamp === undefined ? cellState(column, text) : 'ended'
  return state === 'plain' ? text : html`<span class=${`state ${state}`}>${text}</span>`
}

/** A link to the node of a pod; nothing if it has none. */
export function nodeLink(app: App, name: unknown): TemplateResult | typeof nothing {
  if (typeof name !== 'string') return nothing
  const object = { resource: 'nodes', namespace: '', name }
  return html`<a href=${fragmentOf(elsewhere(app.location, { view: 'objects', resource: 'nodes', object }))}
    >${name}</a
  >`
}

/** A link to the owner that controls an object, or to its first one. */
export function ownerLink(
  app: App,
  owners: readonly OwnerReference[] = [],
  namespace = '',
): TemplateResult | typeof nothing {
  const owner = owners.find(({ controller }) => controller === true) ?? owners[0]
  if (owner === undefined) return nothing
  const { kind, apiVersion, name } = owner
  const resource = app.resourceOfKind(kind, apiVersion)
  const text = `${kind} ${name}`
  if (resource === undefined) return html`${text}`
  const object = { resource: resource.plural, namespace: resource.isNamespaced ? namespace : '', name }
  return html`<a
    href=${fragmentOf(elsewhere(app.location, { view: 'objects', resource: resourceId(resource), object }))}
    >${text}</a
  >`
}
