// The colors of the editor: those of the page, whose variables differ between the light and the dark theme.
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import type { Extension } from '@codemirror/state'
import { EditorView } from '@codemirror/view'
import { tags } from '@lezer/highlight'

const box = { border: '1px solid var(--dim)', backgroundColor: 'var(--background)', color: 'var(--text)' }
const control = {
  font: 'inherit',
  color: 'var(--text)',
  background: 'var(--box)',
  border: '1px solid var(--dim)',
  borderRadius: 'var(--radius)',
}

const theme = EditorView.theme({
  '&': { ...box, borderRadius: 'var(--radius)', flex: '1 1 auto', minHeight: '0' },
  '&.cm-focused': { outline: '2px solid var(--call)', outlineOffset: '1px' },
  '.cm-scroller': { font: '12px/1.5 ui-monospace, monospace', overflow: 'auto' },
  '.cm-content': { caretColor: 'var(--text)' },
  '.cm-cursor, .cm-dropCursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': { backgroundColor: 'var(--background)', color: 'var(--dim)', borderRight: '1px solid var(--line)' },
  '.cm-activeLine': { backgroundColor: 'transparent' },
  '&.cm-focused .cm-activeLine': { boxShadow: 'inset 0 0 0 1px var(--line)' },
  '.cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground': {
    background: 'var(--selected)',
  },
  '.cm-selectionMatch, .cm-searchMatch': { backgroundColor: 'transparent', outline: '1px solid var(--persist)' },
  '.cm-searchMatch-selected': { backgroundColor: 'var(--selected)' },
  '&.cm-focused .cm-matchingBracket': { backgroundColor: 'transparent', outline: '1px solid var(--dim)' },
  '&.cm-focused .cm-nonmatchingBracket': { backgroundColor: 'transparent', outline: '1px solid var(--failure)' },
  '.cm-foldPlaceholder': { ...control, padding: '0 0.25rem' },
  '.cm-panels': { backgroundColor: 'var(--box)', color: 'var(--text)' },
  '.cm-panels-top, .cm-panels-bottom': { borderColor: 'var(--line)' },
  '.cm-textfield': { ...control, background: 'var(--background)' },
  '.cm-button': { ...control, backgroundImage: 'none', background: 'var(--background)' },
  '.cm-panel.cm-search [name=close], .cm-panel.cm-panel-lint [name=close]': { color: 'var(--text)' },
  '.cm-panel.cm-panel-lint ul [aria-selected]': { backgroundColor: 'var(--selected)', color: 'var(--text)' },
  '.cm-tooltip': { ...box, borderRadius: 'var(--radius)', maxWidth: 'min(32rem, calc(100vw - 2rem))' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { font: '12px/1.5 ui-monospace, monospace', maxWidth: '100%' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { display: 'flex', gap: '1rem', padding: '0 0.5rem' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { background: 'var(--selected)', color: 'var(--text)' },
  '.cm-completionLabel': { flex: '1 1 auto', overflow: 'hidden', textOverflow: 'ellipsis' },
  '.cm-completionMatchedText': { textDecoration: 'none', fontWeight: '700' },
  '.cm-completionDetail': { fontStyle: 'normal', color: 'var(--dim)', marginLeft: '0' },
  'li[aria-selected] .cm-completionDetail': { color: 'var(--text)' },
  '.cm-tooltip.cm-completionInfo': { padding: '0.5rem', maxWidth: 'min(24rem, 80vw)' },
  '.cm-field': { padding: '0.25rem 0.5rem', whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' },
  '.cm-field strong': { marginRight: '0.5rem' },
  '.cm-diagnostic': { overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' },
  '.cm-diagnostic-error': { borderLeftColor: 'var(--failure)' },
  '.cm-lintRange-error': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--failure)',
    textDecorationSkipInk: 'none',
  },
  '.cm-lintPoint-error:after': { borderBottomColor: 'var(--failure)' },
  '.cm-gutter-lint .cm-gutterElement': { padding: '0 0.2em' },
})

const highlight = HighlightStyle.define([
  { tag: tags.definition(tags.propertyName), color: 'var(--call)' },
  { tag: tags.string, color: 'var(--watch)' },
  { tag: tags.lineComment, color: 'var(--dim)', fontStyle: 'italic' },
  { tag: [tags.labelName, tags.typeName, tags.attributeValue], color: 'var(--reconcile)' },
  { tag: [tags.meta, tags.keyword, tags.separator], color: 'var(--dim)' },
])

export const editorTheme: Extension = [theme, syntaxHighlighting(highlight)]
