// The buttons of the actions on objects. In the past and in a report there are none.
import { html, nothing, type TemplateResult } from 'lit'
import { isForwarded, isNode, isPod, isRestartable, isScalable, isSuspendable } from '../../calls/workload-kinds.ts'
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
      ? html`<button
          aria-haspopup="dialog"
          @click=${() => app.actions.ask(kind, resource, objects, kind === 'forward' ? portOf(objects[0]) : replicas)}
        >
          ${label}
        </button>`
      : nothing
  return html`${button('scale', 'Scale', isScalable(resource) && isPatched)}
  ${button('restart', 'Restart', isRestartable(resource) && isPatched)}
  ${button('rollback', 'Roll back', isRestartable(resource) && isPatched && objects.length === 1)}
  ${button('forward', 'Port-forward', isForwarded(resource) && objects.length === 1)}
  ${button('debug', 'Debug', isPod(resource) && isPatched && objects.length === 1)}
  ${button('cordon', 'Cordon', canCordon && !objects.every(isCordoned))}
  ${button('uncordon', 'Uncordon', canCordon && objects.some(isCordoned))}
  ${button('drain', 'Drain', canCordon && objects.length === 1)}
  ${button('suspend', 'Suspend', canSuspend && !objects.every(isSuspended))}
  ${button('resume', 'Resume', canSuspend && objects.some(isSuspended))}
  ${button('delete', 'Delete', verbs.includes('delete'))}`
}

interface PortFields {
  readonly ports?: readonly { readonly port: number }[]
  readonly containers?: readonly { readonly ports?: readonly { readonly containerPort: number }[] }[]
}

/** The first port of a Service or a pod; empty if it names none. */
function portOf(object: ClusterObject | undefined): string {
  const { ports = [], containers = [] } = (object?.spec ?? {}) as PortFields
  const first = ports[0]?.port ?? containers.flatMap((each) => each.ports ?? [])[0]?.containerPort
  return first === undefined ? '' : String(first)
}
