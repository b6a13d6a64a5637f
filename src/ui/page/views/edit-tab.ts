// The editor of an object: server-side apply, with the result of a dry run first. Fields that other managers own are conflicts;
// they are listed with their owners, and are only taken over on request.
import { html, nothing, type TemplateResult } from 'lit'
import { yamlText } from '../model/yaml-text.ts'
import type { RejectedField } from '../source/requests.ts'
import type { ClusterObject } from '../source/source.ts'
import type { App } from '../state/app.ts'
import { editable, newEdit, type Edit } from '../state/object-details.ts'
import { diffView } from './frame/diff-view.ts'
import { yamlEditor } from './editor/editor-directive.ts'
import { failureView } from './frame/failure-view.ts'

export function editTab(app: App, object: ClusterObject): TemplateResult {
  const { details } = app
  const text = details.edit?.text ?? yamlText(editable(object))
  const edit: Edit = details.edit ?? newEdit(text)
  const { diff, conflicts, errors, takesOver } = edit
  const apply = (isDryRun: boolean, isForced: boolean) => () =>
    void app.attempt('edit', async () => {
      if (details.edit === undefined) details.setEdit(text)
      const result = await details.applyEdit(object, isDryRun, isForced)
      app.notify(notices[result])
    })
  return html`<div
      class="editor"
      ${yamlEditor({
        label: 'YAML to apply',
        text,
        errors,
        onChange: (typed) => details.setEdit(typed),
        kindsOf: (kinds) => app.schemas.of(kinds),
        failed: (error) => app.failed('edit', error),
      })}
    ></div>
    <div class="bar">
      <button @click=${apply(true, false)}>Show changes</button>
      <button ?disabled=${diff === undefined || diff.length === 0} @click=${apply(false, takesOver)}>Apply</button>
      <button @click=${() => details.setEdit(undefined)}>Discard</button>
    </div>
    ${failureView(app, 'edit')} ${conflicts.length === 0 ? nothing : conflictsView(conflicts, apply(true, true))}
    ${takesOver ? html`<p>Applying takes the fields of other managers over.</p>` : nothing}
    ${diff === undefined ? nothing : diff.length === 0 ? html`<p class="empty">Nothing would change.</p>` : diffView(diff)}`
}

const notices = {
  shown: 'This is what the server would change.',
  applied: 'The change is applied.',
  conflict: 'Other managers own some of these fields.',
} as const

const conflictsView = (conflicts: readonly RejectedField[], takeOver: () => void): TemplateResult =>
  html`<div class="why" role="alert">
    <table class="conflicts">
      <thead>
        <tr>
          <th scope="col">Field</th>
          <th scope="col">Conflict</th>
        </tr>
      </thead>
      <tbody>
        ${conflicts.map(
          ({ field, message }) =>
            html`<tr>
              <td>${field}</td>
              <td>${message}</td>
            </tr>`,
        )}
      </tbody>
    </table>
    <button @click=${takeOver}>Show changes with these fields taken over</button>
  </div>`
