// Creating objects: the form of a kind, the editor, and what has become of each document.
import { html, nothing, type TemplateResult } from 'lit'
import { creationForms, fieldProblem, formOf } from '../model/forms/creation-forms.ts'
import type { FormField } from '../model/forms/form-values.ts'
import { elsewhere, fragmentOf } from '../model/permalink.ts'
import { resourceId } from '../source/source.ts'
import type { App } from '../state/app.ts'
import type { CreationResult, Draft, Outcome } from '../state/creation.ts'
import { yamlEditor } from './editor/editor-directive.ts'
import { failureView } from './frame/failure-view.ts'

export function createView(app: App, draft: Draft): TemplateResult {
  const { text, errors, isRunning, step, results, form } = draft
  const { creation } = app
  return html`<article class="object" aria-label="Create">
    <div class="bar">
      <h2>Create</h2>
      <button aria-label="Close" @click=${() => creation.close()}>✕</button>
    </div>
    <div class="tab">
      ${formView(app, draft)}
      <div
        class="editor"
        ${yamlEditor({
          label: 'YAML to create',
          text,
          errors,
          hasFocus: form === undefined,
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

/** The fields of the form, with what is wrong with them once they were checked. A change of the text by hand closes the form. */
function formView({ creation }: App, { form: shown, results, errors }: Draft): TemplateResult {
  const form = formOf(shown?.id ?? '')
  const choose = (change: Event): void => creation.useForm((change.target as HTMLSelectElement).value)
  return html`<div class="form" role="group" aria-label="Form">
    <label
      >Form
      <select @change=${choose}>
        <option value="" .selected=${form === undefined}>none, only YAML</option>
        ${creationForms.map(({ id, kind }) => html`<option value=${id} .selected=${id === form?.id}>${kind}</option>`)}
      </select></label
    >
    ${
      form === undefined || shown === undefined
        ? nothing
        : form.fields.map((field) => {
            const problem = results.length === 0 ? '' : fieldProblem(field, shown.values, errors)
            return fieldView(creation, field, shown.values.get(field.name) ?? '', problem)
          })
    }
  </div>`
}

function fieldView(
  creation: App['creation'],
  { name, label, input, isRequired, hint, choices }: FormField,
  value: string,
  problem: string,
): TemplateResult {
  const id = `form-${name}`
  const fill = (change: Event): void => creation.fill(name, (change.target as HTMLInputElement).value)
  const isWrong = problem !== ''
  const about = isWrong ? `${id}-problem` : nothing
  const control =
    input === 'choice'
      ? html`<select id=${id} @change=${fill} aria-invalid=${isWrong} aria-describedby=${about}>
          ${choices.map((each) => html`<option .selected=${each === value}>${each}</option>`)}
        </select>`
      : input === 'lines'
        ? html`<textarea
            id=${id}
            rows="3"
            placeholder=${hint}
            aria-invalid=${isWrong}
            aria-describedby=${about}
            .value=${value}
            @input=${fill}
          ></textarea>`
        : html`<input
            id=${id}
            autocomplete="off"
            inputmode=${input === 'number' ? 'numeric' : 'text'}
            placeholder=${hint}
            aria-required=${isRequired}
            aria-invalid=${isWrong}
            aria-describedby=${about}
            .value=${value}
            @input=${fill}
          />`
  return html`<div class="field">
    <label for=${id}>${label}</label>
    ${control} ${isWrong ? html`<p class="problem" id=${`${id}-problem`} role="alert">${problem}</p>` : nothing}
  </div>`
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
