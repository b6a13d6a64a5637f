// The navigation: the views, and all kinds by topic with the number of their objects.
import { html, nothing, type TemplateResult } from 'lit'
import { kindLabel, kindSections, type KindSection } from '../../model/kind-sections.ts'
import { elsewhere, fragmentOf, viewLabels } from '../../model/permalink.ts'
import { resourceId, type Resource } from '../../source/source.ts'
import type { App } from '../../state/app.ts'
import { failureView } from './failure-view.ts'
import { navigationId } from './header-view.ts'

/** Topics that are open before the user opens others. */
const openTopics: ReadonlySet<string> = new Set(['Workloads', 'Network', 'Configuration', 'Storage', 'Cluster'])

export function navigationView(app: App): TemplateResult {
  const { view } = app.location
  return html`<nav
    id=${navigationId}
    class=${app.isMenuOpen ? 'navigation open' : 'navigation'}
    aria-label="Navigation"
  >
    <ul>
      ${app.views
        .filter((name) => name !== 'objects')
        .map((name) => linkView(fragmentOf(elsewhere(app.location, { view: name })), name === view, viewLabels[name]))}
    </ul>
    ${failureView(app, 'navigation')} ${kindSections(app.resources).map((section) => sectionView(app, section))}
  </nav>`
}

function sectionView(app: App, { name, isCustom, resources }: KindSection): TemplateResult {
  const isShown = (resource: Resource): boolean =>
    app.location.view === 'objects' && app.resourceOf(app.location.resource) === resource
  return html`<details ?open=${isCustom || openTopics.has(name) || resources.some(isShown)}>
    <summary>${name}</summary>
    <ul>
      ${resources.map((resource) =>
        linkView(
          fragmentOf(elsewhere(app.location, { view: 'objects', resource: resourceId(resource) })),
          isShown(resource),
          kindLabel(resource),
          // The numbers are those of the present.
          app.location.revision === undefined ? app.counts.get(resource) : undefined,
        ),
      )}
    </ul>
  </details>`
}

const linkView = (fragment: string, isCurrent: boolean, label: string, count?: number): TemplateResult =>
  html`<li>
    <a href=${fragment} aria-current=${isCurrent ? 'page' : 'false'}
      ><span>${label}</span>${count === undefined ? nothing : html`<span class="count">${count}</span>`}</a
    >
  </li>`
