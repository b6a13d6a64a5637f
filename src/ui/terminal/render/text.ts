// Texts and diagrams: the lines on the screen, from the position of the view.
import { cellsOf } from '../screen/cells.ts'
import type { Frame } from '../screen/frame.ts'
import type { Style } from '../screen/styles.ts'
import { flowContent, textContent, wrapped } from '../state/content.ts'
import { textOffset } from '../state/scroll.ts'
import { bodyRows, type State } from '../state/state.ts'
import type { FlowView, TextView } from '../state/views.ts'

/** A view, or a message in its place. */
export function drawText(
  frame: Frame,
  top: number,
  state: State,
  content: TextView | readonly string[],
  style: Style = 'plain',
): void {
  if (!('kind' in content)) {
    const lines = content.flatMap((line) => wrapped(line, frame.width - 2))
    for (const [index, line] of lines.entries()) frame.put(1, top + index, line, style)
    return
  }
  const offset = textOffset(state, content)
  const lines = textContent(content, frame.width).slice(offset, offset + bodyRows(state, content))
  for (const [index, line] of lines.entries()) {
    const shown =
      content.left === 0
        ? line
        : cellsOf(line)
            .slice(content.left)
            .map(({ text }) => text)
            .join('')
    frame.put(0, top + index, shown, lineStyle(content, line))
    highlight(frame, top + index, shown, content.filter)
  }
  if (content.status.kind === 'live' && content.lines.length === 0) frame.put(1, top, emptyText(content), 'dim')
}

const emptyText = ({ source }: TextView): string =>
  source.kind === 'logs' ? 'nothing has been logged' : 'nothing to show'

/** Headings of a description are at the start of a line and end with a colon. */
function lineStyle({ source: { kind } }: TextView, line: string): Style {
  if ((kind === 'describe' || kind === 'why') && /^[A-Z][\w ]*:/.test(line)) return 'bold'
  if (kind === 'help' && line !== '' && !line.startsWith(' ')) return 'bold'
  return kind === 'kinds' && line.startsWith('NAME ') ? 'bold' : 'plain'
}

function highlight(frame: Frame, y: number, line: string, filter: string): void {
  if (filter === '') return
  const text = line.toLowerCase()
  const wanted = filter.toLowerCase()
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length)) {
    const before = cellsOf(line.slice(0, at)).reduce((sum, { width }) => sum + width, 0)
    const within = cellsOf(line.slice(at, at + wanted.length)).reduce((sum, { width }) => sum + width, 0)
    frame.restyle(before, y, before + within, 'warning')
  }
}

export function drawFlow(frame: Frame, top: number, state: State, view: FlowView): void {
  const offset = textOffset(state, view)
  const lines = flowContent(view, frame.width).slice(offset, offset + bodyRows(state, view))
  for (const [index, line] of lines.entries()) frame.putSpans(-view.left, top + index, line)
  if (view.messages.length === 0 && view.status.kind === 'live')
    frame.put(1, top, 'nothing is recorded about it yet; messages appear here as they happen', 'dim')
}
