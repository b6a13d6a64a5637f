// The page: navigation, the current view, the time slider and notices.
import { html, nothing, type noChange, type TemplateResult } from 'lit'
import type { App } from '../state/app.ts'
import { viewNames, type ViewName } from '../model/permalink.ts'
import { flowsView } from './flows-view.ts'
import { mapView } from './map-view.ts'
import { objectsView } from './objects-view.ts'
import { signedOutView } from './signed-out-view.ts'

const views: Readonly<Record<ViewName, (app: App) => TemplateResult | typeof noChange>> = {
  flows: flowsView,
  objects: objectsView,
  map: mapView,
}
const labels: Readonly<Record<ViewName, string>> = { flows: 'Flows', objects: 'Objects', map: 'Map' }

export function pageView(app: App): TemplateResult {
  if (app.isSignedOut) return signedOutView('There is no session, or it has ended.')
  const { view } = app.location
  return html`<header>
      <h1>${app.source.title}</h1>
      <nav aria-label="Views">
        ${viewNames.map((name) => html`<button aria-current=${name === view ? 'page' : 'false'} @click=${() => app.go({ view: name })}>${labels[name]}</button>`)}
      </nav>
      <p class="notice" role="status">
        ${app.hasGap ? 'Some messages were omitted. ' : nothing}${hasLines(app.notice) ? nothing : app.notice}
      </p>
    </header>
    ${hasLines(app.notice) ? longNotice(app.notice) : nothing}
    <main>${views[view](app)}</main>
    <footer>${timeBar(app)}${stepBar(app)}</footer>`
}

const hasLines = (text: string): boolean => text.trim().includes('\n')

/** The error of a failed test, for example. It is folded to its first line, because the view needs the space. */
const longNotice = (text: string): TemplateResult =>
  html`<details class="long-notice">
    <summary role="status">${text.trim().split('\n', 1)[0]}</summary>
    <pre tabindex="0">${text.trim()}</pre>
  </details>`

function timeBar(app: App): TemplateResult | typeof nothing {
  const { range, isReplaying } = app.time
  if (range === undefined) return nothing
  const { revision } = app.location
  const refresh = (): void => void app.attempt(() => app.time.refresh())
  const seek = (input: Event): void => {
    app.time.stop()
    app.go({ revision: Number((input.target as HTMLInputElement).value) })
  }
  const now = (): void => {
    app.time.stop()
    app.go({ revision: undefined })
  }
  return html`<label class="time"
      >Time
      <input
        type="range"
        min=${range.oldest}
        max=${range.newest}
        .value=${String(revision ?? range.newest)}
        @focus=${refresh}
        @input=${seek}
    /></label>
    <output>${revision === undefined ? 'now' : revisionText(revision, app.time.atMs(revision))}</output>
    <button ?disabled=${revision === undefined} @click=${now}>Now</button>
    ${
      isReplaying
        ? html`<button @click=${() => app.time.stop()}>Stop</button>`
        : html`<button @click=${() => void app.attempt(() => app.time.replay())}>Replay</button>`
    }`
}

const revisionText = (revision: number, atMs: number | undefined): string =>
  atMs === undefined ? `revision ${revision}` : `revision ${revision} at ${new Date(atMs).toISOString().slice(11, 23)}`

function stepBar(app: App): TemplateResult | typeof nothing {
  const { clock } = app.time
  if (clock === undefined) return nothing
  const advance = (step: 'event' | number) => () => void app.attempt(() => app.time.advance(step))
  return html`<span class="steps" role="group" aria-label="Virtual time">
    <output>${new Date(clock.nowMs).toISOString()}</output>
    <button @click=${advance('event')}>Next event</button>
    <button @click=${advance(1_000)}>+1 s</button>
    <button @click=${advance(10_000)}>+10 s</button>
  </span>`
}
