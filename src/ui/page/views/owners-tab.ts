// The owners of an object and the objects that it owns, as a tree.
import { html, nothing, type TemplateResult } from 'lit'
import type { App } from '../state/app.ts'
import { ownerTree } from '../model/owner-tree.ts'
import type { ClusterObject } from '../source/source.ts'
import { failureView } from './frame/failure-view.ts'

/** The resources whose objects are usually owned by others. */
const ownedResources = [
  'replicasets.apps',
  'statefulsets.apps',
  'pods',
  'jobs.batch',
  'controllerrevisions.apps',
  'endpointslices.discovery.k8s.io',
  'persistentvolumeclaims',
]

export function ownersTab(app: App, { metadata, kind = '' }: ClusterObject): TemplateResult {
  const { owned } = app.details
  const load = (): void =>
    void app.attempt('owners', async () => {
      const resources = ownedResources.flatMap((id) => app.resourceOf(id) ?? [])
      const lists = await Promise.all(
        resources.map(async (resource) => {
          const objects = await app.source.list(resource, {
            namespace: metadata.namespace ?? '',
            revision: app.location.revision,
          })
          return objects.map((object) => ({ resource: resource.plural, object }))
        }),
      )
      app.details.setOwned(ownerTree(lists.flat(), metadata.uid))
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
