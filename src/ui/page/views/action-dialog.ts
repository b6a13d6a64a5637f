// The question before an action: the objects, what follows, and the kubectl command with the same effect.
import { html, nothing, type TemplateResult } from 'lit'
import { replicasMax } from '../../calls/workload-kinds.ts'
import { resourceId } from '../source/source.ts'
import type { App } from '../state/app.ts'
import type { ActionKind, PendingAction } from '../state/object-actions.ts'
import { modal } from './frame/modal.ts'

const verbs: Readonly<Record<ActionKind, string>> = { delete: 'Delete', restart: 'Restart', scale: 'Scale' }
/** Names that are listed; further ones are counted. */
const namesMax = 10

export function actionDialog(app: App): TemplateResult | typeof nothing {
  const { actions } = app
  const { pending } = actions
  if (pending === undefined) return nothing
  const { kind, consequences, failure, done, objects } = pending
  return html`<dialog class="action" aria-labelledby="action-title" @close=${() => actions.close()} ${modal()}>
    <form
      method="dialog"
      @submit=${(submit: Event) => {
        submit.preventDefault()
        void actions.confirm()
      }}
    >
      <h2 id="action-title">${titleOf(pending)}</h2>
      ${objects.length === 1 ? nothing : namesView(pending)} ${kind === 'scale' ? replicasView(app, pending) : nothing}
      ${kind === 'restart' ? html`<p>Its pods are replaced by new ones, as the update strategy says.</p>` : nothing}
      ${consequences === undefined ? html`<p class="detail">Finding out what follows…</p>` : consequences.map((text) => html`<p>${text}</p>`)}
      ${failure === undefined ? nothing : html`<p class="problem" role="alert">${failure}</p>`}
      <p class="detail">The same with kubectl: <code>${commandOf(pending)}</code></p>
      <div class="bar">
        <button class=${kind === 'delete' ? 'danger' : 'primary'} ?disabled=${done !== undefined}>
          ${verbs[kind]}
        </button>
        <button type="button" @click=${() => actions.close()}>Cancel</button>
        <span role="status">${done === undefined ? nothing : `${done} of ${objects.length}`}</span>
      </div>
    </form>
  </dialog>`
}

const titleOf = ({ kind, resource, objects }: PendingAction): string =>
  objects.length === 1
    ? `${verbs[kind]} ${resource.kind} ${objects[0]?.metadata.name ?? ''}?`
    : `${verbs[kind]} ${objects.length} ${resource.plural}?`

const namesView = ({ objects }: PendingAction): TemplateResult =>
  html`<ul>
    ${objects.slice(0, namesMax).map(({ metadata: { name, namespace } }) => html`<li>${namespace === undefined ? name : `${namespace}/${name}`}</li>`)}
    ${objects.length > namesMax ? html`<li>and ${objects.length - namesMax} more</li>` : nothing}
  </ul>`

const replicasView = (app: App, { replicas }: PendingAction): TemplateResult =>
  html`<label
    >Replicas
    <input
      type="number"
      min="0"
      max=${replicasMax}
      autofocus
      .value=${replicas}
      @input=${(input: Event) => app.actions.setReplicas((input.target as HTMLInputElement).value)}
  /></label>`

/** As a user types it. */
function commandOf({ kind, resource, objects, replicas }: PendingAction): string {
  const names = objects.slice(0, namesMax).map(({ metadata }) => metadata.name)
  const id = resourceId(resource)
  const namespace = objects[0]?.metadata.namespace
  const place = namespace === undefined ? '' : ` -n ${namespace}`
  const objectNames = names.map((name) => `${id}/${name}`).join(' ')
  const more = objects.length > namesMax ? ' …' : ''
  switch (kind) {
    case 'delete':
      return `kubectl delete ${objectNames}${more}${place}`
    case 'restart':
      return `kubectl rollout restart ${objectNames}${more}${place}`
    case 'scale':
      return `kubectl scale ${objectNames}${more} --replicas=${replicas}${place}`
    default:
      return kind satisfies never
  }
}
