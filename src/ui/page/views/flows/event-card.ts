// The card of a message: the request, the requester, the request filters with their times, and what a write changed.
import { html, nothing, type TemplateResult } from 'lit'
import type { FlowEvent } from '../../../../base/observability/flow-recorder.ts'
import { failureReason } from '../../../../flows/svg/drawn-message.ts'
import { eventText } from '../../../../flows/fold-branches.ts'
import type { App } from '../../state/app.ts'
import { diffView } from '../frame/diff-view.ts'

const effectsMax = 12

export function eventCard(app: App, event: FlowEvent | undefined): TemplateResult | typeof nothing {
  if (event === undefined) return nothing
  const { from, to, what, object, outcome, allowedBy, atMs, endMs, stages, revision } = event
  const facts: readonly (readonly [string, string | undefined])[] = [
    [
      'request',
      object === undefined ? what : `${what} ${object.namespace === '' ? '' : `${object.namespace}/`}${object.name}`,
    ],
    ['from', from],
    ['to', to],
    ['at', new Date(atMs).toISOString()],
    ['took', endMs === undefined ? undefined : `${(endMs - atMs).toFixed(1)} ms`],
    ['outcome', failureReason(event) ?? outcome],
    ['allowed by', allowedBy],
    ['revision', revision > 0 ? String(revision) : undefined],
  ]
  const diff = app.details.write(event)
  let beforeMs = 0
  return html`<aside class="card" aria-label="Message" data-card>
    <div class="title">
      <h3>${eventText(event)}</h3>
      <button aria-label="Close" @click=${() => close(app)}>✕</button>
    </div>
    <dl>
      ${facts.map(([name, value]) =>
        value === undefined || value === ''
          ? nothing
          : html`<div class=${name === 'outcome' && failureReason(event) ? 'failed' : ''}>
              <dt>${name}</dt>
              <dd>${value}</dd>
            </div>`,
      )}
    </dl>
    ${
      stages.length === 0
        ? nothing
        : html`<table class="stages">
            <caption>
              Request filters
            </caption>
            <tbody>
              ${stages.map(({ stage, afterMs }) => {
                const ms = afterMs - beforeMs
                beforeMs = afterMs
                return html`<tr>
                  <th scope="row">${stage}</th>
                  <td>${ms.toFixed(2)} ms</td>
                </tr>`
              })}
            </tbody>
          </table>`
    }
    ${
      diff === undefined || diff.length === 0
        ? nothing
        : html`<h4>What this write changed</h4>
            ${diffView(diff)}`
    }
    ${linksView(app, event)}
  </aside>`
}

/** A screen without a keyboard has no Escape, and the card covers half of a narrow one. */
function close(app: App): void {
  app.selectEvent(undefined)
  app.hover(undefined)
}

function linksView(app: App, event: FlowEvent): TemplateResult {
  const cause = app.record.causeOf(event)
  const effects = app.record.effectsOf(event)
  const { object } = event
  const link = (target: FlowEvent, label: string): TemplateResult =>
    html`<button class="link" @click=${() => app.selectEvent(target)}>
      ${label} ${target.from} → ${target.to}: ${eventText(target)}
    </button>`
  return html`<div class="links">
    ${cause === undefined ? nothing : link(cause, 'Cause:')}
    ${effects.slice(0, effectsMax).map((effect) => link(effect, 'Effect:'))}
    ${object === undefined || object.name === '' ? nothing : html`<button class="link" @click=${() => app.selectObject(object)}>Flow of ${object.resource} ${object.name}</button>`}
  </div>`
}
