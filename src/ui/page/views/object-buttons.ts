// The buttons of the actions on objects. In the past and in a report there are none.
import { html, nothing, type TemplateResult } from 'lit'
import { isRestartable, isScalable } from '../../calls/workload-kinds.ts'
import type { ClusterObject, Resource } from '../source/source.ts'
import type { App } from '../state/app.ts'
import type { ActionKind } from '../state/object-actions.ts'

export function objectButtons(
  app: App,
  resource: Resource | undefined,
  objects: readonly ClusterObject[],
): TemplateResult | typeof nothing {
  if (resource === undefined || objects.length === 0 || !app.canAct) return nothing
  const { verbs } = resource
  const replicas = objects.length === 1 ? String(objects[0]?.spec?.['replicas'] ?? 1) : ''
  const button = (kind: ActionKind, label: string, isShown: boolean): TemplateResult | typeof nothing =>
    isShown
      ? html`<button aria-haspopup="dialog" @click=${() => app.actions.ask(kind, resource, objects, replicas)}>
          ${label}
        </button>`
      : nothing
  return html`${button('scale', 'Scale', isScalable(resource) && verbs.includes('patch'))}
  ${button('restart', 'Restart', isRestartable(resource) && verbs.includes('patch'))}
  ${button('delete', 'Delete', verbs.includes('delete'))}`
}
