// The summary of an object: facts, and tables of the objects that belong to it.
import { html, nothing, type TemplateResult } from 'lit'
import { ageText } from '../../../api/columns/age.ts'
import { elsewhere, fragmentOf } from '../model/permalink.ts'
import { summaryOf, summaryQueries } from '../model/summary/summary.ts'
import type { LinkedObject, SummaryTable, SummaryValue } from '../model/summary/summary-parts.ts'
import { resourceId, type ClusterObject } from '../source/source.ts'
import type { App } from '../state/app.ts'

export function summaryTab(app: App, object: ClusterObject): TemplateResult {
  const { related, details, location } = app
  const resource = details.resource
  const id = resource === undefined ? '' : resourceId(resource)
  related.follow(summaryQueries(id, object), object.metadata.resourceVersion ?? '', location.revision)
  const { facts, tables } = summaryOf(id, object, related.lists)
  if (app.ageMs !== undefined) app.drawAgain(ageStepMs)
  return html`<dl class="facts">
      ${facts.map(
        ({ label, values }) =>
          html`<div>
            <dt>${label}</dt>
            <dd>${values.map((value) => html`<span class="value">${valueView(app, value)}</span>`)}</dd>
          </div>`,
      )}
    </dl>
    ${related.failure === undefined ? nothing : html`<p class="problem" role="alert">${related.failure}</p>`}
    ${related.forbidden.length === 0 ? nothing : html`<p class="detail">You may not list ${related.forbidden.join(', ')} here.</p>`}
    ${tables.map((table) => tableView(app, table))}`
}

const ageStepMs = 1_000
/** Texts that are wrapped. */
const longChars = 40

function tableView(app: App, { title, columns, rows, empty }: SummaryTable): TemplateResult {
  return html`<section class="related" aria-label=${title}>
    <h3>${title}</h3>
    ${
      rows.length === 0
        ? html`<p class="detail">${app.related.isLoaded ? empty : 'Loading…'}</p>`
        : html`<div class="wide" tabindex="0" role="group" aria-label=${title}>
            <table>
              <thead>
                <tr>
                  ${columns.map((column) => html`<th scope="col">${column}</th>`)}
                </tr>
              </thead>
              <tbody>
                ${rows.map(
                  (row) =>
                    html`<tr>
                      ${row.map((value) => html`<td class=${typeof value === 'string' && value.length > longChars ? 'long' : ''}>${valueView(app, value)}</td>`)}
                    </tr>`,
                )}
              </tbody>
            </table>
          </div>`
    }
  </section>`
}

function valueView(app: App, value: SummaryValue): unknown {
  if (typeof value === 'string') return value
  if ('since' in value) return sinceView(app, value.since)
  const { text, state, object } = value
  if (object !== undefined) return objectLink(app, object, text)
  return state === undefined || state === 'plain' ? text : html`<span class=${`state ${state}`}>${text}</span>`
}

/** `2030-01-01T00:00:00` */
const dateTimeChars = 19

/** How long ago something was; the time itself where ages are not those of now. */
export function sinceView(app: App, since: string): unknown {
  if (since === '') return ''
  const { revision } = app.location
  const nowMs = revision === undefined ? (app.ageMs ?? app.time.clock?.nowMs) : undefined
  const isTime = !Number.isNaN(Date.parse(since))
  const text = !isTime
    ? since
    : nowMs === undefined
      ? since.slice(0, dateTimeChars).replace('T', ' ')
      : ageText(since, nowMs)
  return html`<time datetime=${since} title=${since}>${text}</time>`
}

/** A link to an object; a text if the cluster has no such kind. */
export function objectLink(app: App, { resource: id, namespace, name }: LinkedObject, text: string): unknown {
  const resource = app.resourceOf(id)
  if (resource === undefined) return text
  const object = { resource: resource.plural, namespace, name }
  return html`<a
    href=${fragmentOf(elsewhere(app.location, { view: 'objects', resource: resourceId(resource), object }))}
    >${text}</a
  >`
}
