// Creating objects: the editor, and what has become of each document.
import { html, nothing, type TemplateResult } from 'lit'
import { elsewhere, fragmentOf } from '../model/permalink.ts'
import { resourceId } from '../source/source.ts'
import type { App } from '../state/app.ts'
import type { CreationResult, Draft, Outcome } from '../state/creation.ts'
import { yamlEditor } from './editor/editor-directive.ts'
import { failureView } from './frame/failure-view.ts'

export function createView(app: App, { text, errors, isRunning, step, results }: Draft): TemplateResult {
  const { creation } = app
  return html`<article class="object" aria-label="Create">
    <div class="bar">
      <h2>Create</h2>
      <button aria-label="Close" @click=${() => creation.close()}>✕</button>
    </div>
    <div class="tab">
      <div
        class="editor"
        ${yamlEditor({
          label: 'YAML to create',
          text,
          errors,
          hasFocus: true,
          onChange: (typed) => creation.type(typed),
          kindsOf: (kinds) => app.schemas.of(kinds),
          failed: (error) => app.failed('create', error),
        })}
      ></div>
      <p class="detail">Documents are separated by <code>---</code>.</p>
      <div class="bar">
        <button ?disabled=${isRunning} @click=${() => void app.attempt('create', () => creation.check())}>Check</button>
        <button
          class="primary"
          ?disabled=${!creation.canCreate}
          @click=${() => void app.attempt('create', () => creation.create())}
        >
          Create
        </button>
      </div>
      ${failureView(app, 'create')}
      <div role="status" aria-label="Results">
        ${
          results.length === 0
            ? nothing
            : html`<ul class="results">
                ${results.map((result) => resultView(app, result, step))}
              </ul>`
        }
      </div>
    </div>
  </article>`
}

const states: Readonly<Record<Outcome, string>> = {
  created: 'good',
  changed: 'waiting',
  waits: 'waiting',
  failed: 'failing',
}

function resultView(app: App, result: CreationResult, step: Draft['step']): TemplateResult {
  const { kind, name, namespace, outcome, message, resource } = result
  const label = `${kind} ${namespace === '' ? '' : `${namespace}/`}${name}`
  const isThere = step === 'created' && (outcome === 'created' || outcome === 'changed')
  const object = { resource: resource?.plural ?? '', namespace, name }
  const to = { view: 'objects', resource: resource === undefined ? '' : resourceId(resource), object } as const
  return html`<li>
    ${isThere ? html`<a href=${fragmentOf(elsewhere(app.location, to))}>${label}</a>` : label}
    <span class=${`state ${states[outcome]}`}>${message}</span>
  </li>`
}

/** Shows where objects are created. In the past and in a report there is none. */
export const createButton = (app: App): TemplateResult | typeof nothing =>
  app.canAct ? html`<button @click=${() => app.startCreation()}>Create</button>` : nothing
