// The question before an action: the objects, what follows, and the kubectl command with the same effect.
import { html, nothing, type TemplateResult } from 'lit'
import { replicasMax } from '../../calls/workload-kinds.ts'
import { actionTexts, commandOf, namesMax } from '../model/actions/action-texts.ts'
import { lineDiff } from '../model/line-diff.ts'
import { yamlText } from '../model/yaml-text.ts'
import type { App } from '../state/app.ts'
import type { PendingAction } from '../state/object-actions.ts'
import { diffView } from './frame/diff-view.ts'
import { modal } from './frame/modal.ts'

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
      ${objects.length === 1 ? nothing : namesView(pending)} ${numberView(app, pending)} ${debugView(app, pending)}
      ${consequences === undefined ? html`<p class="detail">Finding out what follows…</p>` : consequences.map((text) => html`<p>${text}</p>`)}
      ${revisionsView(app, pending)} ${drainView(pending)}
      ${failure === undefined ? nothing : html`<p class="problem" role="alert">${failure}</p>`}
      <p class="detail">The same with kubectl: <code>${commandOf(pending)}</code></p>
      <div class="bar">
        <button
          class=${kind === 'delete' ? 'danger' : 'primary'}
          ?disabled=${done !== undefined || (kind === 'rollback' && pending.revision === undefined)}
        >
          ${kind === 'forward' ? 'Copy the command' : actionTexts[kind].verb}
        </button>
        <button type="button" @click=${() => actions.close()}>
          ${kind === 'drain' && done !== undefined ? 'Stop' : 'Cancel'}
        </button>
        <span role="status">${done === undefined ? nothing : `${done} of ${objects.length}`}</span>
      </div>
    </form>
  </dialog>`
}

const titleOf = ({ kind, resource, objects }: PendingAction): string =>
  objects.length === 1
    ? `${actionTexts[kind].verb} ${resource.kind} ${objects[0]?.metadata.name ?? ''}?`
    : `${actionTexts[kind].verb} ${objects.length} ${resource.plural}?`

const namesView = ({ objects }: PendingAction): TemplateResult =>
  html`<ul>
    ${objects.slice(0, namesMax).map(({ metadata: { name, namespace } }) => html`<li>${namespace === undefined ? name : `${namespace}/${name}`}</li>`)}
    ${objects.length > namesMax ? html`<li>and ${objects.length - namesMax} more</li>` : nothing}
  </ul>`

function numberView(app: App, { kind, number }: PendingAction): TemplateResult | typeof nothing {
  if (kind !== 'scale' && kind !== 'forward') return nothing
  return html`<label
    >${kind === 'scale' ? 'Replicas' : 'Port'}
    <input
      type="number"
      min="0"
      max=${kind === 'scale' ? replicasMax : portMax}
      autofocus
      .value=${number}
      @input=${(input: Event) => app.actions.setNumber((input.target as HTMLInputElement).value)}
  /></label>`
}

function debugView(app: App, { debug, debugTargets }: PendingAction): TemplateResult | typeof nothing {
  if (debug === undefined) return nothing
  const { image, target } = debug
  return html`<label
      >Image
      <input
        autofocus
        autocomplete="off"
        .value=${image}
        @input=${(input: Event) => app.actions.setDebug({ image: (input.target as HTMLInputElement).value })}
    /></label>
    <label
      >Sees the processes of
      <select
        @change=${(change: Event) => app.actions.setDebug({ target: (change.target as HTMLSelectElement).value })}
      >
        ${debugTargets.map((name) => html`<option value=${name} ?selected=${name === target}>${name}</option>`)}
        <option value="" ?selected=${target === ''}>no container</option>
      </select></label
    >`
}

/** The revisions to choose from, and what the chosen one changes in the pod template. */
function revisionsView(app: App, pending: PendingAction): TemplateResult | typeof nothing {
  const { revisions, revision, template } = pending
  if (revision === undefined || template === undefined) return nothing
  const choose = (change: Event): void => {
    const at = (change.target as HTMLSelectElement).selectedIndex
    const chosen = revisions[at]
    if (chosen !== undefined) app.actions.chooseRevision(chosen)
  }
  return html`<label
      >Revision
      <select autofocus @change=${choose}>
        ${revisions.map((each) => html`<option ?selected=${each === revision}>${each.revision}</option>`)}
      </select>
    </label>
    <p>What it changes in the pod template:</p>
    ${diffView(lineDiff(yamlText(template), yamlText(revision.template)))}`
}

const portMax = 65_535
/** Pods that are waited for; further ones are counted. */
const waitingMax = 5

function drainView({ drain }: PendingAction): TemplateResult | typeof nothing {
  if (drain === undefined) return nothing
  const { done, total, waiting } = drain
  return html`<div role="status" aria-label="Progress">
    <p>${done} of ${total} pods are gone.</p>
    <ul>
      ${waiting.slice(0, waitingMax).map((text) => html`<li>${text}</li>`)}
      ${waiting.length > waitingMax ? html`<li>and ${waiting.length - waitingMax} more</li>` : nothing}
    </ul>
  </div>`
}
