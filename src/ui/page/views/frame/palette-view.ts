// The palette as a dialog: a text field and the choices, which arrow keys move through.
import { html, nothing, type TemplateResult } from 'lit'
import type { App } from '../../state/app.ts'
import type { PaletteChoice, PaletteMode } from '../../state/palette.ts'
import { modal } from './modal.ts'

const titles: Readonly<Record<PaletteMode, string>> = {
  search: 'Search objects, kinds and actions',
  namespace: 'Choose the namespace',
}
const listId = 'choices'
const choiceId = (at: number): string => `choice-${at}`

export function paletteView(app: App): TemplateResult | typeof nothing {
  const { palette } = app
  const { mode, text, selected, isSearching, failure } = palette
  if (mode === undefined) return nothing
  const { choices } = palette
  return html`<dialog
    class="palette"
    aria-label=${titles[mode]}
    @close=${() => palette.close()}
    @click=${(click: Event) => onClick(app, click)}
    ${modal()}
  >
    <input
      type="text"
      role="combobox"
      aria-label=${titles[mode]}
      placeholder=${titles[mode]}
      aria-expanded="true"
      aria-autocomplete="list"
      aria-controls=${listId}
      aria-activedescendant=${choices.length === 0 ? nothing : choiceId(selected)}
      autocomplete="off"
      spellcheck="false"
      autofocus
      .value=${text}
      @input=${(input: Event) => palette.type((input.target as HTMLInputElement).value)}
      @keydown=${(key: KeyboardEvent) => onKey(app, key)}
    />
    <ul id=${listId} role="listbox" aria-label="Choices">
      ${choices.map((choice, at) => choiceView(app, choice, at, at === selected))}
    </ul>
    ${failure === undefined ? nothing : html`<p class="problem" role="alert">${failure}</p>`}
    <p class="hint" role="status">
      ${isSearching ? 'Searching…' : choices.length === 0 ? 'Nothing has this name.' : nothing}
    </p>
  </dialog>`
}

const choiceView = (app: App, choice: PaletteChoice, at: number, isSelected: boolean): TemplateResult =>
  html`<li
    id=${choiceId(at)}
    role="option"
    aria-selected=${isSelected}
    data-choice=${choice.id}
    @click=${() => app.palette.choose(choice)}
  >
    <span>${choice.label}</span
    ><span class="detail">${choice.detail}</span>${choice.key === undefined ? nothing : html`<kbd>${choice.key}</kbd>`}
  </li>`

/** A click beside the dialog closes it. */
function onClick(app: App, { target, currentTarget }: Event): void {
  if (target === currentTarget) app.palette.close()
}

function onKey(app: App, key: KeyboardEvent): void {
  const { palette } = app
  const step = key.key === 'ArrowDown' ? 1 : key.key === 'ArrowUp' ? -1 : 0
  if (step !== 0) {
    palette.move(step)
    document.getElementById(choiceId(palette.selected))?.scrollIntoView({ block: 'nearest' })
  } else if (key.key === 'Enter') palette.choose(palette.choices[palette.selected])
  else return
  key.preventDefault()
}
