// The page: the header, the navigation, the current view, the time slider and notices.
import { html, nothing, type noChange, type TemplateResult } from 'lit'
import type { ViewName } from '../model/permalink.ts'
import type { App } from '../state/app.ts'
import { actionDialog } from './action-dialog.ts'
import { flowsView } from './flows/flows-view.ts'
import { breadcrumbs } from './frame/breadcrumbs.ts'
import { failureView } from './frame/failure-view.ts'
import { headerView } from './frame/header-view.ts'
import { helpView } from './frame/help-view.ts'
import { navigationView } from './frame/navigation-view.ts'
import { paletteView } from './frame/palette-view.ts'
import { pastBanner } from './frame/past-banner.ts'
import { stepBar, timeBar } from './frame/time-bar.ts'
import { mapView } from './map-view.ts'
import { objectsView } from './objects-view.ts'
import { overviewView } from './overview-view.ts'
import { signedOutView } from './signed-out-view.ts'

const views: Readonly<Record<ViewName, (app: App) => TemplateResult | typeof noChange>> = {
  overview: overviewView,
  flows: flowsView,
  objects: objectsView,
  map: mapView,
}

export function pageView(app: App): TemplateResult {
  if (app.signedOut !== undefined) return signedOutView(app.signedOut)
  return html`${headerView(app)} ${navigationView(app)}
    <div class=${app.location.revision === undefined ? 'content' : 'content is-past'}>
      ${pastBanner(app)} ${app.headline === '' ? nothing : headlineView(app.headline)} ${breadcrumbs(app)}
      ${failureView(app, 'page')}
      <main tabindex="-1">${views[app.location.view](app)}</main>
    </div>
    <footer>${timeBar(app)}${stepBar(app)}${failureView(app, 'time')}</footer>
    <p class="notice" role="status">${app.notice}</p>
    ${paletteView(app)} ${helpView(app)} ${actionDialog(app)}`
}

/** The error of a failed test. It is folded to its first line, because the view needs the space. */
function headlineView(headline: string): TemplateResult {
  const text = headline.trim()
  if (!text.includes('\n')) return html`<p class="problem" role="status">${text}</p>`
  return html`<details class="long-notice">
    <summary role="status">${text.split('\n', 1)[0]}</summary>
    <pre tabindex="0">${text}</pre>
  </details>`
}
