// The owners of an object and the objects that it owns, as a tree.
import { html, nothing, type TemplateResult } from 'lit'
import type { App } from '../state/app.ts'
import type { ClusterObject } from '../source/source.ts'
import { failureView } from './frame/failure-view.ts'

export function ownersTab(app: App, { metadata, kind = '' }: ClusterObject): TemplateResult {
  const { owned } = app.details
  const load = (): void =>
    void app.attempt('owners', async () => {
      app.details.setOwned(await app.ownedBy({ metadata }))
      if (app.details.owned.length === 0) app.notify('It owns nothing.')
    })
  const { ownerReferences = [] } = metadata
  return html` ${ownerReferences.length === 0 ? html`<p>It has no owner.</p>` : nothing}
    <ul class="tree">
      ${ownerReferences.map((owner) => html`<li>owned by ${owner.kind} ${owner.name}</li>`)}
      <li><strong>${kind} ${metadata.name}</strong></li>
      ${owned.map(
        ({ resource, object, depth }) =>
          html`<li .style=${`padding-left:${(depth + 1) * 1.4}em`}>
            <button
              class="link"
              @click=${() => app.selectObject({ resource, namespace: object.metadata.namespace ?? '', name: object.metadata.name }, { resource: idOf(app, resource) })}
            >
              ${resource} ${object.metadata.name}
            </button>
          </li>`,
      )}
    </ul>
    <button @click=${load}>Show what it owns</button>
    ${failureView(app, 'owners')}`
}

const idOf = (app: App, plural: string): string => {
  const resource = app.resourceOf(plural)
  return resource === undefined || resource.group === '' ? plural : `${plural}.${resource.group}`
}
