// An error, beside what it is about.
import { html, nothing, type TemplateResult } from 'lit'
import type { App } from '../../state/app.ts'
import type { FailurePlace } from '../../state/failures.ts'

export function failureView(app: App, place: FailurePlace): TemplateResult | typeof nothing {
  const text = app.failures.get(place)
  return text === undefined ? nothing : html`<p class="problem" role="alert">${text}</p>`
}
