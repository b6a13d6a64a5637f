// The page: navigation, the current view, the time slider and notices.
import { html, nothing, type TemplateResult } from 'lit'
import type { App } from '../state/app.ts'
import { viewNames, type ViewName } from '../model/permalink.ts'
import { flowsView } from './flows-view.ts'
import { mapView } from './map-view.ts'
import { objectsView } from './objects-view.ts'

const views: Readonly<Record<ViewName, (app: App) => TemplateResult>> = {
  flows: flowsView,
  objects: objectsView,
  map: mapView,
}
const labels: Readonly<Record<ViewName, string>> = { flows: 'Flows', objects: 'Objects', map: 'Map' }

export function pageView(app: App): TemplateResult {
  const { view } = app.location
  return html`<header>
      <h1>${app.source.title}</h1>
      <nav aria-label="Views">
        ${viewNames.map((name) => html`<button aria-current=${name === view ? 'page' : 'false'} @click=${() => app.go({ view: name })}>${labels[name]}</button>`)}
      </nav>
      <p class="notice" role="status">${app.hasGap ? 'Some messages were omitted. ' : nothing}${app.notice}</p>
    </header>
    <main>${views[view](app)}</main>
    <footer>${timeBar(app)}${stepBar(app)}</footer>`
}

function timeBar(app: App): TemplateResult | typeof nothing {
  const { revisions } = app
  if (revisions === undefined) return nothing
  const { revision } = app.location
  return html`<label class="time"
      >Time
      <input
        type="range"
        min=${revisions.oldest}
        max=${revisions.newest}
        .value=${String(revision ?? revisions.newest)}
        @input=${(input: Event) => app.go({ revision: Number((input.target as HTMLInputElement).value) })}
    /></label>
    <output>${revision === undefined ? 'now' : `revision ${revision}`}</output>
    <button ?disabled=${revision === undefined} @click=${() => app.go({ revision: undefined })}>Now</button>`
}

function stepBar(app: App): TemplateResult | typeof nothing {
  if (app.clock === undefined) return nothing
  return html`<span class="steps" role="group" aria-label="Virtual time">
    <output>${new Date(app.clock.nowMs).toISOString()}</output>
    <button @click=${() => void app.advance('event')}>Next event</button>
    <button @click=${() => void app.advance(1_000)}>+1 s</button>
    <button @click=${() => void app.advance(10_000)}>+10 s</button>
  </span>`
}
