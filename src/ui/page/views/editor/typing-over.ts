// Typing over a selection. Chromium gives what it inserts the style of what it removes, as an attribute that the content security
// policy blocks and reports; so the editor inserts it itself, and not the browser.
import { EditorView } from '@codemirror/view'

export const typingOver = EditorView.domEventHandlers({
  beforeinput({ inputType, data, isComposing }, view) {
    const { main } = view.state.selection
    if (inputType !== 'insertText' || data === null || isComposing || main.empty || view.state.readOnly) return false
    const insert = () =>
      view.state.update(view.state.replaceSelection(data), { userEvent: 'input.type', scrollIntoView: true })
    // Brackets surround what is selected.
    const handlers = view.state.facet(EditorView.inputHandler)
    if (!handlers.some((handle) => handle(view, main.from, main.to, data, insert))) view.dispatch(insert())
    return true
  },
})
