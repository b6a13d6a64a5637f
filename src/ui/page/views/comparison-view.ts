// Two moments compared: the objects of the listed kind that were added, removed or changed between them, with their differences.
import { html, nothing, type TemplateResult } from 'lit'
import { kindLabel } from '../model/kind-sections.ts'
import { lineDiff } from '../model/line-diff.ts'
import { yamlText } from '../model/yaml-text.ts'
import type { ClusterObject } from '../source/source.ts'
import type { App } from '../state/app.ts'
import type { ComparedObject } from '../state/comparison.ts'
import { withoutManagedFields } from '../state/object-details.ts'
import { diffView } from './frame/diff-view.ts'
import { revisionText } from './frame/time-bar.ts'

/** Objects whose differences are shown; further ones are counted. */
const shownMax = 50

export function comparisonView(app: App, from: number): TemplateResult {
  const { comparison, time, location } = app
  const { revision: to, namespace } = location
  const resource = app.resourceOf(location.resource)
  if (resource !== undefined) comparison.follow(resource, namespace, from, to)
  const { objects, failure } = comparison
  const label = resource === undefined ? location.resource : kindLabel(resource)
  const moment = (revision: number | undefined): string =>
    revision === undefined ? 'now' : revisionText(revision, time.atMs(revision))
  return html`<section class="comparison" aria-label="Comparison" tabindex="0">
    <div class="bar">
      <h2>${label} that differ</h2>
      <button @click=${() => comparison.again()}>Read again</button>
      <button @click=${() => app.go({ compared: undefined })}>Close the comparison</button>
    </div>
    <p class="detail">
      From ${moment(from)} to ${moment(to)}. The slider chooses the later moment, the navigation another kind.
    </p>
    ${failure === undefined ? nothing : html`<p class="problem" role="alert">${failure}</p>`}
    ${
      objects === undefined
        ? html`<p class="empty">${failure === undefined ? 'Loading…' : ''}</p>`
        : html`<p role="status">${countText(objects)}</p>
            ${objects.slice(0, shownMax).map(objectView)}
            ${objects.length > shownMax ? html`<p>${objects.length - shownMax} more are not shown.</p>` : nothing}`
    }
  </section>`
}

const changeOf = ({ before, after }: ComparedObject): 'added' | 'removed' | 'changed' =>
  before === undefined ? 'added' : after === undefined ? 'removed' : 'changed'

function countText(objects: readonly ComparedObject[]): string {
  if (objects.length === 0) return 'None differ.'
  const counts = Map.groupBy(objects, changeOf)
  return [...counts].map(([change, { length }]) => `${length} ${change}`).join(', ')
}

function objectView(compared: ComparedObject): TemplateResult {
  const { before, after } = compared
  const { name = '', namespace } = (after ?? before)?.metadata ?? {}
  const text = (object: ClusterObject | undefined): string =>
    object === undefined ? '' : yamlText(withoutManagedFields(object))
  return html`<details class="revision" data-compared=${name}>
    <summary>${changeOf(compared)}: ${namespace === undefined ? name : `${namespace}/${name}`}</summary>
    ${diffView(lineDiff(text(before), text(after)))}
  </details>`
}
