// The breadcrumbs: the namespace, which is also the filter of the page, the kind and the object.
import { html, type TemplateResult } from 'lit'
import { kindLabel } from '../../model/kind-sections.ts'
import { elsewhere, fragmentOf, viewLabels, type PageLocation } from '../../model/permalink.ts'
import type { App } from '../../state/app.ts'

interface Crumb {
  readonly label: string
  /** Undefined for what is shown. */
  readonly to: Partial<PageLocation> | undefined
}

export function breadcrumbs(app: App): TemplateResult {
  const { namespace } = app.location
  return html`<nav class="breadcrumbs" aria-label="Breadcrumbs">
    <button
      class="namespace"
      aria-haspopup="dialog"
      aria-keyshortcuts="n"
      @click=${() => app.palette.open('namespace')}
    >
      ${namespace === '' ? 'All namespaces' : html`Namespace <strong>${namespace}</strong>`}
    </button>
    <ol>
      ${crumbsOf(app).map(
        ({ label, to }) =>
          html`<li>
            ${
              to === undefined
                ? html`<span aria-current="page">${label}</span>`
                : html`<a href=${fragmentOf(elsewhere(app.location, to))}>${label}</a>`
            }
          </li>`,
      )}
    </ol>
  </nav>`
}

function crumbsOf(app: App): readonly Crumb[] {
  const { view, resource: id, object, namespace } = app.location
  if (view !== 'objects') {
    const label = viewLabels[view]
    if (object === undefined) return [{ label, to: undefined }]
    return [{ label, to: { view } }, ...ofObject(app, object)]
  }
  const resource = app.resourceOf(id)
  const label = resource === undefined ? id : kindLabel(resource)
  if (object === undefined) return [{ label, to: undefined }]
  const to = { view, resource: id }
  return [{ label, to }, ...ofNamespace(object.namespace, namespace, to), { label: object.name, to: undefined }]
}

const ofObject = (app: App, object: NonNullable<PageLocation['object']>): readonly Crumb[] => {
  const resource = app.resourceOfObject(object)
  return [
    ...ofNamespace(object.namespace, app.location.namespace, { view: 'flows' }),
    { label: `${resource?.kind ?? object.resource} ${object.name}`, to: undefined },
  ]
}

/** The namespace of an object, unless it is that of the filter. */
const ofNamespace = (namespace: string, shown: string, to: Partial<PageLocation>): readonly Crumb[] =>
  namespace === '' || namespace === shown ? [] : [{ label: namespace, to: { ...to, namespace } }]
