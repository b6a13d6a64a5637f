// The buttons of the actions on objects. In the past and in a report there are none.
import { html, nothing, type TemplateResult } from 'lit'
import { isNode, isRestartable, isScalable, isSuspendable } from '../../calls/workload-kinds.ts'
import type { ClusterObject, Resource } from '../source/source.ts'
import type { App } from '../state/app.ts'
import type { ActionKind } from '../model/actions/action-texts.ts'

export function objectButtons(
  app: App,
  resource: Resource | undefined,
  objects: readonly ClusterObject[],
): TemplateResult | typeof nothing {
  if (resource === undefined || objects.length === 0 || !app.canAct) return nothing
  const { verbs } = resource
  const isPatched = verbs.includes('patch')
  const isCordoned = ({ spec }: ClusterObject): boolean => spec?.['unschedulable'] === true
  const isSuspended = ({ spec }: ClusterObject): boolean => spec?.['suspend'] === true
  const canCordon = isNode(resource) && isPatched
  const canSuspend = isSuspendable(resource) && isPatched
  const replicas = objects.length === 1 ? String(objects[0]?.spec?.['replicas'] ?? 1) : ''
  const button = (kind: ActionKind, label: string, isShown: boolean): TemplateResult | typeof nothing =>
    isShown
      ? html`<button aria-haspopup="dialog" @click=${() => app.actions.ask(kind, resource, objects, replicas)}>
          ${label}
        </button>`
      : nothing
  return html`${button('scale', 'Scale', isScalable(resource) && isPatched)}
  ${button('restart', 'Restart', isRestartable(resource) && isPatched)}
  ${button('rollback', 'Roll back', isRestartable(resource) && isPatched && objects.length === 1)}
  ${button('cordon', 'Cordon', canCordon && !objects.every(isCordoned))}
  ${button('uncordon', 'Uncordon', canCordon && objects.some(isCordoned))}
  ${button('drain', 'Drain', canCordon && objects.length === 1)}
  ${button('suspend', 'Suspend', canSuspend && !objects.every(isSuspended))}
  ${button('resume', 'Resume', canSuspend && objects.some(isSuspended))}
  ${button('delete', 'Delete', verbs.includes('delete'))}`
}
