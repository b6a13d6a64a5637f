// Why a diagram shows no message: nothing has happened, or filters and the switch for background messages hide everything.
import { html, nothing, type TemplateResult } from 'lit'
import type { HiddenKind } from '../../model/flows/recent-messages.ts'
import { startLocation } from '../../model/permalink.ts'
import type { App } from '../../state/app.ts'
import type { Diagram } from '../../state/diagram.ts'

const { search, kind, between, onlyFailures } = startLocation
const noFilters = { search, kind, between, onlyFailures }

export function emptyView(app: App, { hidden }: Diagram): TemplateResult {
  const { location } = app
  const isFiltered = Object.entries(noFilters).some(
    ([name, value]) => location[name as keyof typeof noFilters] !== value,
  )
  const isHidden = hidden.size > 0
  return html`<div class="empty">
    <p>${emptyText(app, isFiltered, isHidden)}</p>
    ${isHidden ? html`<p>${hiddenText(hidden)}</p>` : nothing}
    ${isFiltered ? html`<button @click=${() => app.go(noFilters)}>Remove the filters</button>` : nothing}
  </div>`
}

function emptyText(app: App, isFiltered: boolean, isHidden: boolean): string {
  if (app.isLoadingPast) return 'Loading…'
  if (!app.source.hasFlows) return 'The API server of this cluster records no flows. Coxswain does.'
  if (isHidden) return 'There are only background messages.'
  if (isFiltered) return 'No message matches the filters.'
  return app.location.object === undefined ? 'Nothing has happened yet.' : 'Nothing is recorded about this object.'
}

/** What is hidden, the most frequent first. */
export function hiddenText(hidden: ReadonlyMap<HiddenKind, number>): string {
  const parts = [...hidden].toSorted(([, a], [, b]) => b - a).map(([name, count]) => `${count} ${name}`)
  return parts.length === 0 ? 'Background: reads, bookmarks, leases, Event objects' : `Hidden: ${parts.join(', ')}`
}
