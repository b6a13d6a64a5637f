// The objects of a resource: the list, and beside it the selected one.
import { html, nothing, type TemplateResult } from 'lit'
import type { App } from '../state/app.ts'
import { listView } from './list-view.ts'
import { objectView } from './object-view.ts'

export function objectsView(app: App): TemplateResult {
  const { object } = app.location
  return html`<section class=${object === undefined ? 'objects' : 'objects with-object'} aria-label="Objects">
    ${listView(app)} ${object === undefined ? nothing : objectView(app, object)}
  </section>`
}
