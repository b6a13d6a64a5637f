// The list of a resource with kubectl's columns. Only the rows in the window are in the document.
import { html, nothing, type TemplateResult } from 'lit'
import type { App } from '../state/app.ts'
import type { TableRow } from '../source/source.ts'
import { failureView } from './frame/failure-view.ts'
import { objectView } from './object-view.ts'

const rowPx = 28
const windowRows = 60

export function objectsView(app: App): TemplateResult {
  const { resource, search, object } = app.location
  const rows = app.table.search(search)
  const columns = app.table.columns.flatMap(({ name, priority }, at) => (priority === 0 ? [{ name, at }] : []))
  const isNamespaced = app.resourceOf(resource)?.isNamespaced === true
  const first = Math.max(0, Math.floor(app.listScrollPx / rowPx) - 10)
  const shown = rows.slice(first, first + windowRows)
  return html`<section class=${object === undefined ? 'objects' : 'objects with-object'} aria-label="Objects">
    <div class="list">
      <div class="bar">
        <input
          type="search"
          aria-label="Search by name, label, image or reason"
          placeholder="name, label, image, reason"
          .value=${search}
          @input=${(input: Event) => app.go({ search: (input.target as HTMLInputElement).value })}
        />
        <span class="count" role="status">${rows.length} of ${app.table.size}</span>
      </div>
      ${failureView(app, 'list')}
      <div
        class="rows"
        tabindex="0"
        role="group"
        aria-label=${`${rows.length} ${resource}`}
        @scroll=${(scroll: Event) => onScroll(app, scroll)}
      >
        <table aria-rowcount=${rows.length + 1}>
          <thead>
            <tr>
              ${isNamespaced ? html`<th scope="col">Namespace</th>` : nothing}${columns.map(({ name }) => html`<th scope="col">${name}</th>`)}
            </tr>
          </thead>
          <tbody>
            <tr class="space" aria-hidden="true" .style=${`height:${first * rowPx}px`}></tr>
            ${shown.map((row, at) => rowView(app, row, columns, isNamespaced, first + at))}
            <tr
              class="space"
              aria-hidden="true"
              .style=${`height:${Math.max(0, rows.length - first - shown.length) * rowPx}px`}
            ></tr>
          </tbody>
        </table>
      </div>
    </div>
    ${object === undefined ? nothing : objectView(app, object)}
  </section>`
}

function onScroll(app: App, scroll: Event): void {
  app.listScrollPx = (scroll.currentTarget as Element).scrollTop
  app.changed()
}

function rowView(
  app: App,
  row: TableRow,
  columns: readonly { at: number }[],
  isNamespaced: boolean,
  index: number,
): TemplateResult {
  const { name, namespace = '' } = row.object.metadata
  const { object, resource } = app.location
  const plural = app.resourceOf(resource)?.plural ?? resource
  const isSelected = object?.name === name && object.namespace === namespace && object.resource === plural
  const select = (): void => app.selectObject({ resource: plural, namespace, name })
  const cells = columns.map(({ at }, position) => {
    const text = cellText(row.cells[at])
    return position === 0
      ? html`<td><button class="link" @click=${select}>${text}</button></td>`
      : html`<td>${text}</td>`
  })
  return html`<tr class=${isSelected ? 'selected' : ''} aria-rowindex=${index + 2} data-name=${name}>
    ${isNamespaced ? html`<td>${namespace}</td>` : nothing}${cells}
  </tr>`
}

const cellText = (cell: unknown): string =>
  cell === null || cell === undefined ? '' : typeof cell === 'string' ? cell : JSON.stringify(cell)
