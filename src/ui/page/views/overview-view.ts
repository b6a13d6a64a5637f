// The overview: how many objects are well, what is wrong with the commands that fix it, the capacity, and who has changed what.
import { html, nothing, type TemplateResult } from 'lit'
import { humanDuration } from '../../../api/columns/age.ts'
import { cpuText, memoryText, percent } from '../model/amounts.ts'
import { kindLabel } from '../model/kind-sections.ts'
import { elsewhere, fragmentOf } from '../model/permalink.ts'
import { recentChanges, type RecentChange } from '../model/recent-changes.ts'
import type { CapacityShare, ClusterProblem, ClusterProblems, HealthCount } from '../source/overview.ts'
import { resourceId } from '../source/source.ts'
import type { App } from '../state/app.ts'
import { failureView } from './frame/failure-view.ts'

const changesMax = 12
const ageStepMs = 1_000

export function overviewView(app: App): TemplateResult {
  if (app.location.revision !== undefined)
    return html`<section class="overview" aria-label="Overview">
      <p class="empty">The overview shows the present.</p>
    </section>`
  return html`<section class="overview" aria-label="Overview" tabindex="0">
    ${healthView(app)}
    <div class="panels">
      <div>${problemsView(app)}</div>
      <div>${capacityView(app)} ${changesView(app)}</div>
    </div>
  </section>`
}

function failureText(failure: unknown): TemplateResult | typeof nothing {
  if (failure === undefined) return nothing
  return html`<p class="problem" role="alert">${failure instanceof Error ? failure.message : String(failure)}</p>`
}

function healthView(app: App): TemplateResult {
  const { health, healthFailure } = app.overview
  return html`${failureText(healthFailure)}
    <ul class="tiles" aria-label="Health">
      ${health === undefined ? html`<li class="empty">Loading…</li>` : health.health.map((count) => tileView(app, count))}
    </ul>
    ${health !== undefined && isIdle(health.health) ? idleView() : nothing}`
}

function tileView(app: App, { resource: id, well, total }: HealthCount): TemplateResult {
  const resource = app.resourceOf(id)
  const label = resource === undefined ? id : kindLabel(resource)
  const state = well === total ? 'good' : 'failing'
  return html`<li>
    <a class="tile" href=${fragmentOf(elsewhere(app.location, { view: 'objects', resource: id }))}>
      <span>${brokenBeforeCapitals(label)}</span>
      <strong class=${total === 0 ? 'detail' : `state ${state}`}
        >${total === 0 ? 'none' : well === total ? `${total}` : `${well} of ${total}`}</strong
      >
      <span class="detail">${total === 0 ? '' : well === total ? 'all are well' : `${total - well} not`}</span>
    </a>
  </li>`
}

/** Long names of kinds are broken between their words. */
const brokenBeforeCapitals = (label: string): readonly unknown[] =>
  label.split(/(?=[A-Z])/).map((word, at) => (at === 0 ? word : html`<wbr />${word}`))

const isIdle = (counts: readonly HealthCount[]): boolean =>
  counts.length > 0 && counts.every(({ resource, total }) => total === 0 || resource === 'nodes')

const idleView = (): TemplateResult =>
  html`<div class="panel">
    <p>No workload runs here yet. This starts one:</p>
    <pre><code>kubectl create deployment web --image=nginx</code></pre>
  </div>`

function problemsView(app: App): TemplateResult {
  const { problems: found, problemsFailure } = app.overview
  return html`<section class="panel" aria-labelledby="problems-title">
    <h2 id="problems-title">Problems</h2>
    ${failureText(problemsFailure)} ${failureView(app, 'copy')}
    ${found === undefined && problemsFailure === undefined ? html`<p class="empty">Loading…</p>` : nothing}
    ${found === undefined ? nothing : html`<p class="detail" role="status">${checkedText(found)}</p>`}
    ${found?.problems.map((problem) => problemView(app, problem))}
    ${found === undefined || found.omitted === 0 ? nothing : html`<p>${found.omitted} more problems of lower rank are not shown.</p>`}
    ${found?.notes.map((note) => html`<p class="detail">${note}</p>`)}
  </section>`
}

const checkedText = ({ problems, checked }: ClusterProblems): string =>
  `${problems.length === 0 ? 'No problem found. ' : ''}Checked: ${checked} ${checked === 1 ? 'object' : 'objects'}.`

function problemView(app: App, { severity, object, namespace, waits, fixes }: ClusterProblem): TemplateResult {
  const [singular = '', name = ''] = object.split('/', 2)
  const resource = app.resources.find(({ kind }) => kind.toLowerCase() === singular)
  const to =
    resource === undefined
      ? undefined
      : elsewhere(app.location, {
          view: 'objects',
          resource: resourceId(resource),
          object: { resource: resource.plural, namespace, name },
        })
  const title = `${resource?.kind ?? singular} ${name}`
  return html`<article class=${`finding ${severity}`} data-problem=${object}>
    <h3>
      <span class="severity">${severity}</span>
      ${to === undefined ? title : html`<a href=${fragmentOf(to)}>${title}</a>`}
      ${namespace === '' ? nothing : html`<span class="detail">in ${namespace}</span>`}
    </h3>
    ${waits.map((sentence) => html`<p>${sentence}</p>`)}
    ${fixes.map(
      (fix) =>
        html`<div class="fix">
          <code>${fix}</code>
          <button aria-label=${`Copy the command ${fix}`} @click=${() => copy(app, fix)}>Copy</button>
        </div>`,
    )}
  </article>`
}

function copy(app: App, text: string): void {
  void app.attempt('copy', async () => {
    await navigator.clipboard.writeText(text)
    app.notify('The command is in the clipboard.')
  })
}

const shareTexts: Readonly<Record<CapacityShare['name'], { label: string; text: (amount: number) => string }>> = {
  cpu: { label: 'CPU', text: cpuText },
  memory: { label: 'Memory', text: memoryText },
  pods: { label: 'Pods', text: (count) => `${count} pods` },
}

function capacityView(app: App): TemplateResult | typeof nothing {
  const shares = app.overview.health?.capacity.filter(({ capacity }) => capacity > 0) ?? []
  if (shares.length === 0) return nothing
  return html`<section class="panel" aria-labelledby="capacity-title">
    <h2 id="capacity-title">Capacity</h2>
    ${shares.map(shareView)}
  </section>`
}

function shareView({ name, capacity, requested, used }: CapacityShare): TemplateResult {
  const { label, text } = shareTexts[name]
  const requestedShare = percent(requested, capacity)
  const verb = name === 'pods' ? 'taken' : 'requested'
  const words = [
    `${text(requested)} of ${text(capacity)} ${verb}`,
    ...(used === undefined ? [] : [`${text(used)} used`]),
  ].join(', ')
  return html`<div class="share">
    <span>${label}</span>
    <div class="meter" role="img" aria-label=${`${label}: ${words}`}>
      <span class="requested" .style=${`width:${requestedShare}%`}></span>
      ${used === undefined ? nothing : html`<span class="used" .style=${`width:${percent(used, capacity)}%`}></span>`}
    </div>
    <span class="detail">${words}</span>
  </div>`
}

function changesView(app: App): TemplateResult {
  const { namespace } = app.location
  const changes = app.recentChanges.get(namespace, app.record.version, () =>
    recentChanges([...app.record.values()], namespace, changesMax),
  )
  if (app.ageMs !== undefined) app.drawAgain(ageStepMs)
  return html`<section class="panel" aria-labelledby="changes-title">
    <h2 id="changes-title">Recent changes</h2>
    ${
      changes.length === 0
        ? html`<p class="empty">${changesText(app)}</p>`
        : html`<ul class="recent">
            ${changes.map((change) => changeView(app, change))}
          </ul>`
    }
  </section>`
}

function changesText(app: App): string {
  if (!app.source.hasFlows) return 'The API server of this cluster does not record who changes what.'
  return app.isLoadingPast ? 'Loading…' : 'Nothing has been changed since the record began.'
}

function changeView(app: App, { event, sender, verb, object, count }: RecentChange): TemplateResult {
  const { resource: plural, namespace, name } = object
  const resource = app.resourceOf(plural)
  const id = resource === undefined ? plural : resourceId(resource)
  // The name of an object that is created may be generated; the list shows what has it.
  const isGenerated = name.endsWith('*')
  const shown = name === '' || isGenerated ? undefined : object
  const search = isGenerated ? name.slice(0, -1) : ''
  const to = elsewhere(app.location, { view: 'flows', object: shown, event: event.id })
  const title = `${resource?.kind ?? plural} ${name}`
  const nowMs = app.ageMs ?? app.record.newestMs
  return html`<li data-change=${event.id}>
    <strong>${sender}</strong> ${verb}
    <a href=${fragmentOf(elsewhere(app.location, { view: 'objects', resource: id, object: shown, search }))}
      >${title}</a
    >
    ${namespace === '' ? nothing : html`<span class="detail">in ${namespace}</span>`}
    ${count === 1 ? nothing : html`<span class="detail">and ${count - 1} more</span>`}
    <a class="detail age" href=${fragmentOf(to)}>${humanDuration(nowMs - event.atMs)} ago</a>
  </li>`
}
