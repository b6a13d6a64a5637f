// The objects of a resource: the list, and beside it the selected one, or those that are being created.
import { html, nothing, type TemplateResult } from 'lit'
import type { App } from '../state/app.ts'
import { comparisonView } from './comparison-view.ts'
import { createView } from './create-view.ts'
import { listView } from './list-view.ts'
import { objectView } from './object-view.ts'

export function objectsView(app: App): TemplateResult {
  const { object, compared } = app.location
  if (compared !== undefined && object === undefined) return comparisonView(app, compared)
  const draft = app.canAct ? app.creation.draft : undefined
  const isAlone = object === undefined && draft === undefined
  return html`<section class=${isAlone ? 'objects' : 'objects with-object'} aria-label="Objects">
    ${listView(app)}
    ${object !== undefined ? objectView(app, object) : draft === undefined ? nothing : createView(app, draft)}
  </section>`
}
