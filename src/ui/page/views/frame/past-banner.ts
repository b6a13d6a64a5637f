// What marks the past: its date, that actions are off, and the way back.
import { html, nothing, type TemplateResult } from 'lit'
import type { App } from '../../state/app.ts'
import { revisionText } from './time-bar.ts'

export function pastBanner(app: App): TemplateResult | typeof nothing {
  const { revision } = app.location
  if (revision === undefined) return nothing
  return html`<div class="past" role="status">
    <span>
      <strong>The past:</strong> ${revisionText(revision, app.time.atMs(revision))}.
      ${app.source.actions === undefined ? nothing : 'Actions are off.'}
    </span>
    ${
      app.location.compared === undefined
        ? html`<button
            @click=${() => app.go({ view: 'objects', compared: revision, revision: undefined, object: undefined })}
          >
            Compare with the present
          </button>`
        : nothing
    }
    <button @click=${() => app.time.showPresent()}>Return to the present</button>
  </div>`
}
