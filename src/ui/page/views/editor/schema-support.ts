// Completion, descriptions and marks in the editor, from what the model knows about the text. Everything from the cluster is shown as text.
import {
  autocompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
} from '@codemirror/autocomplete'
import { forceLinting, linter, lintGutter, type Diagnostic } from '@codemirror/lint'
import { StateEffect, StateField, type Extension } from '@codemirror/state'
import { EditorView, hoverTooltip, type Tooltip } from '@codemirror/view'
import { completionsAt } from '../../model/editing/completions.ts'
import { fieldAt, type DescribedField } from '../../model/editing/field-at.ts'
import { errorPlaces, type FieldError } from '../../model/editing/field-places.ts'
import { findingsIn } from '../../model/editing/findings.ts'
import type { KnownKind, KnownKinds } from '../../model/editing/known-kinds.ts'
import { yamlDocuments } from '../../model/editing/yaml-documents.ts'

/** The text is checked when nothing was typed for this time. */
const checkAfterMs = 300
/** Characters of a description that are shown. */
const descriptionCharsMax = 2_000

/** What is known about the kinds of a text. */
export type KindsOf = (kinds: readonly KnownKind[]) => Promise<KnownKinds>

const replaceErrors = StateEffect.define<readonly FieldError[]>()

/** The errors of the server, until the text is changed. */
const fieldErrors = StateField.define<readonly FieldError[]>({
  create: () => [],
  update(errors, { docChanged, effects }) {
    const replaced = effects.find((effect) => effect.is(replaceErrors))
    if (replaced !== undefined) return replaced.value
    return docChanged ? [] : errors
  },
})

export function schemaSupport(kindsOf: KindsOf): Extension {
  const knownKinds = (text: string) => kindsOf(yamlDocuments(text))
  return [
    fieldErrors,
    lintGutter(),
    linter(
      async ({ state }) => {
        const text = state.doc.toString()
        const places = errorPlaces(text, state.field(fieldErrors))
        return [...findingsIn(text, await knownKinds(text)), ...places].map(diagnostic)
      },
      {
        delay: checkAfterMs,
        needsRefresh: ({ startState, state }) => startState.field(fieldErrors) !== state.field(fieldErrors),
      },
    ),
    hoverTooltip(async ({ state }, position) => {
      const text = state.doc.toString()
      const field = fieldAt(text, position, await knownKinds(text))
      return field === undefined ? null : fieldTooltip(field)
    }),
    autocompletion({
      icons: false,
      override: [(context) => complete(context, knownKinds)],
      // The value follows the name.
      activateOnCompletion: ({ type }) => type === 'property',
    }),
  ]
}

export function setFieldErrors(view: EditorView, errors: readonly FieldError[]): void {
  const [first] = errorPlaces(view.state.doc.toString(), errors)
  view.dispatch({
    effects: [
      replaceErrors.of(errors),
      ...(first === undefined ? [] : [EditorView.scrollIntoView(first.from, { y: 'center' })]),
    ],
    ...(first === undefined ? {} : { selection: { anchor: first.from } }),
  })
  forceLinting(view)
}

const diagnostic = ({ from, to, message }: Omit<Diagnostic, 'severity'>): Diagnostic => ({
  from,
  to,
  message,
  severity: 'error',
})

async function complete(
  { state, pos, explicit }: CompletionContext,
  knownKinds: (text: string) => ReturnType<KindsOf>,
): Promise<CompletionResult | null> {
  const line = state.doc.lineAt(pos)
  // Spaces alone are indentation.
  if (!explicit && !/(?:\S|[:-] )$/.test(line.text.slice(0, pos - line.from))) return null
  const text = state.doc.toString()
  const found = completionsAt(text, pos, await knownKinds(text))
  if (found === undefined) return null
  return {
    from: found.from,
    to: Math.max(found.to, pos),
    validFor: /^[\w$./-]*$/,
    options: found.options.map(({ kind, label, insert, detail, description, isRequired }): Completion => ({
      label,
      detail,
      apply: insert,
      type: kind === 'field' ? 'property' : 'constant',
      ...(isRequired ? { boost: 50 } : {}),
      ...(description === '' ? {} : { info: () => paragraph(description) }),
    })),
  }
}

const fieldTooltip = ({ from, to, name, type, isRequired, description, values }: DescribedField): Tooltip => ({
  pos: from,
  end: to,
  above: true,
  create() {
    const dom = document.createElement('div')
    dom.className = 'cm-field'
    const title = document.createElement('strong')
    title.textContent = name
    dom.append(title, `${type}${isRequired ? ', required' : ''}`)
    if (description !== '') dom.append(paragraph(description))
    if (values.length > 0) dom.append(paragraph(`One of ${values.join(', ')}.`))
    return { dom }
  },
})

function paragraph(text: string): HTMLElement {
  const element = document.createElement('div')
  element.textContent = text.length > descriptionCharsMax ? `${text.slice(0, descriptionCharsMax)}…` : text
  return element
}
