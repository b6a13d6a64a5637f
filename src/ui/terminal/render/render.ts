// render: the frame of a state. Nothing here changes the state; only what is on the screen is drawn.
import { padded, widthOf } from '../screen/cells.ts'
import { Frame, span, type Span } from '../screen/frame.ts'
import { hintsOf, keyText } from '../state/bindings.ts'
import { completed } from '../state/prompt.ts'
import { objectText } from '../state/resources.ts'
import { bodyRows, headerRows, shownView, type State } from '../state/state.ts'
import type { View } from '../state/views.ts'
import { drawMap } from './map.ts'
import { drawTable } from './table.ts'
import { drawFlow, drawText } from './text.ts'
import { crumbOf, titleOf } from './title.ts'

/** Below this size nothing useful fits. */
const [widthMin, heightMin] = [40, 8]
const factColumns = 34

export function render(state: State, nowMs: number): Frame {
  const { width, height } = state
  const frame = new Frame(width, height)
  if (width < widthMin || height < heightMin) {
    frame.put(0, 0, `the terminal is smaller than ${widthMin}×${heightMin}`)
    return frame
  }
  const view = shownView(state)
  drawHeader(frame, state, view)
  const top = headerRows(state)
  drawTitle(frame, top, titleOf(view))
  drawBody(frame, top + 1, state, view, nowMs)
  drawLastLine(frame, state, view)
  return frame
}

function drawHeader(frame: Frame, state: State, view: View): void {
  const rows = headerRows(state)
  if (rows === 0) return
  const { context, server, version, missing } = state.cluster
  const facts = [
    ['Context', context],
    ['Server', server],
    ['Version', missing === undefined ? version : `${version} (records no flows)`],
  ] as const
  for (const [y, [name, value]] of facts.entries())
    frame.putSpans(1, y, [span(name.padEnd(9), 'dim'), span(padded(value, factColumns - 11))])
  let x = factColumns
  const hints = hintsOf(view.kind)
  for (let first = 0; first < hints.length; first += rows) {
    const column = hints.slice(first, first + rows)
    const texts = column.map(([key, label]) => [`<${key}>`, ` ${label}`] as const)
    const columns = Math.max(...texts.map((parts) => widthOf(parts.join('')))) + 2
    if (x + columns - 2 > frame.width) return
    for (const [y, [key, label]] of texts.entries()) frame.putSpans(x, y, [span(key, 'key'), span(label, 'dim')])
    x += columns
  }
}

function drawTitle(
  frame: Frame,
  y: number,
  { text, detail }: { readonly text: string; readonly detail: string },
): void {
  frame.put(0, y, '─'.repeat(frame.width), 'dim')
  const title = [span(' '), span(text, 'title'), ...(detail === '' ? [] : [span(` ${detail}`, 'warning')]), span(' ')]
  frame.putSpans(1, y, title, frame.width - 1)
}

function drawBody(frame: Frame, top: number, state: State, view: View, nowMs: number): void {
  const { status } = view
  if (status.kind === 'failed' && isEmpty(view)) {
    drawText(frame, top, state, [`cannot be read: ${status.reason}`], 'failure')
    return
  }
  switch (view.kind) {
    case 'table':
      return drawTable(frame, top, bodyRows(state, view), view, nowMs)
    case 'text':
      return drawText(frame, top, state, view)
    case 'flow':
      return drawFlow(frame, top, state, view)
    case 'map':
      return drawMap(frame, top, state, view)
    default:
      return view satisfies never
  }
}

function isEmpty(view: View): boolean {
  switch (view.kind) {
    case 'table':
      return view.rows.size === 0
    case 'flow':
      return view.messages.length === 0
    default:
      return view.lines.length === 0
  }
}

/** A prompt, a notice, or the way to this view. */
function drawLastLine(frame: Frame, state: State, view: View): void {
  const y = frame.height - 1
  frame.putSpans(0, y, lastLine(state))
  const { status } = view
  const right: Span | undefined =
    state.prompt !== undefined
      ? undefined
      : status.kind === 'loading'
        ? span('loading…', 'dim')
        : status.kind === 'failed' && !isEmpty(view) && state.notice === undefined
          ? span(padded(`not current: ${status.reason}`, Math.floor(frame.width / 2)), 'failure')
          : undefined
  if (right !== undefined) frame.putSpans(Math.max(0, frame.width - widthOf(right.text) - 1), y, [right])
}

function lastLine(state: State): Span[] {
  const { prompt, notice } = state
  if (prompt !== undefined) {
    if (prompt.kind === 'confirm')
      return [
        span(` Delete ${objectText(prompt.object)}? `, 'failure'),
        span('<y>', 'key'),
        span(' yes  ', 'dim'),
        span('<n>', 'key'),
        span(' no', 'dim'),
      ]
    const sign = prompt.kind === 'command' ? ':' : '/'
    const rest = prompt.kind === 'command' ? completed(state, prompt.text).slice(prompt.text.length) : ''
    return [
      span(` ${sign}${prompt.text}`, 'bold'),
      span(rest === '' ? ' ' : rest.slice(0, 1), 'selected'),
      span(rest.slice(1), 'dim'),
    ]
  }
  if (notice !== undefined) return [span(` ${notice.text}`, notice.isError ? 'failure' : 'success')]
  const crumbs = state.views.map(crumbOf)
  return [
    span(
      ` ${crumbs
        .slice(0, -1)
        .map((crumb) => `${crumb} › `)
        .join('')}`,
      'dim',
    ),
    span(crumbs.at(-1) ?? '', 'bold'),
    ...(state.views.length > 1 ? [span(`  <${keyText('esc')}> back`, 'dim')] : []),
  ]
}
