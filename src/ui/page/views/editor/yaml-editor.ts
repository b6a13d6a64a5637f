// The editor of YAML: CodeMirror with the schemas of the cluster. Loaded on first use. It is in a shadow root, because its library adopts
// constructed style sheets there, which the content security policy permits; in the document it would create <style> elements.
import { closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import { yaml } from '@codemirror/lang-yaml'
import { bracketMatching, foldGutter, foldKeymap, indentOnInput, indentUnit } from '@codemirror/language'
import { lintKeymap } from '@codemirror/lint'
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search'
import { EditorState, Transaction } from '@codemirror/state'
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view'
import type { FieldError } from '../../model/editing/field-places.ts'
import { editorTheme } from './editor-theme.ts'
import { schemaSupport, setFieldErrors, type KindsOf } from './schema-support.ts'
import { typingOver } from './typing-over.ts'

export interface EditorDeps {
  readonly label: string
  readonly text: string
  readonly onChange: (text: string) => void
  readonly kindsOf: KindsOf
}

export interface ShownEditor {
  /** Replaces the text, which is not an edit of the user. */
  setText(text: string): void
  /** Marks the fields, and shows the first one. */
  setErrors(errors: readonly FieldError[]): void
  focus(): void
  close(): void
}

const hintId = 'keys'
/** How long after Escape the Tab key moves the focus. */
const leavingMs = 2_000

/** Escape also closes what is open, such as completions; the focus leaves in any case. */
const leavesWithTab = EditorView.domEventObservers({
  keydown: ({ key }, view) => {
    if (key === 'Escape') view.setTabFocusMode(leavingMs)
  },
})

export function showEditor(element: HTMLElement, { label, text, onChange, kindsOf }: EditorDeps): ShownEditor {
  const root = element.shadowRoot ?? element.attachShadow({ mode: 'open' })
  let isOwnChange = false
  const onUpdate = EditorView.updateListener.of(({ docChanged, state }) => {
    if (docChanged && !isOwnChange) onChange(state.doc.toString())
  })
  const state = EditorState.create({
    doc: text,
    extensions: [
      lineNumbers(),
      foldGutter(),
      highlightActiveLine(),
      drawSelection(),
      history(),
      bracketMatching(),
      closeBrackets(),
      indentOnInput(),
      indentUnit.of('  '),
      EditorState.tabSize.of(2),
      search({ top: true }),
      highlightSelectionMatches(),
      yaml(),
      editorTheme,
      typingOver,
      schemaSupport(kindsOf),
      leavesWithTab,
      // Completion comes first, because its keys move in its list.
      keymap.of([
        ...completionKeymap,
        ...closeBracketsKeymap,
        ...defaultKeymap,
        ...searchKeymap,
        ...historyKeymap,
        ...foldKeymap,
        ...lintKeymap,
        indentWithTab,
      ]),
      EditorView.contentAttributes.of({
        'aria-label': label,
        'aria-describedby': hintId,
        spellcheck: 'false',
        tabindex: '0',
      }),
      onUpdate,
    ],
  })
  const view = new EditorView({ state, root, parent: root })
  root.append(hintElement())
  return {
    setText(next) {
      if (next === view.state.doc.toString()) return
      isOwnChange = true
      view.dispatch({
        changes: { from: 0, to: view.state.doc.length, insert: next },
        annotations: Transaction.addToHistory.of(false),
      })
      isOwnChange = false
    },
    setErrors: (errors) => setFieldErrors(view, errors),
    focus: () => view.focus(),
    close() {
      view.destroy()
      root.replaceChildren()
    },
  }
}

/** What keys do that have another effect elsewhere on the page. */
function hintElement(): HTMLElement {
  const hint = document.createElement('p')
  hint.id = hintId
  hint.className = 'cm-hint'
  hint.textContent =
    'Ctrl-Space completes, Ctrl-F searches, F8 shows the next mark. Escape, then Tab leaves the editor.'
  hint.style.cssText = 'margin: 0.25rem 0 0; color: var(--dim); font-size: var(--small)'
  return hint
}
