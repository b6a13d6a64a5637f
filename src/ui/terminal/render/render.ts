// render: the frame of a state. Nothing here changes the state; only what is on the screen is drawn.
import { fitted, padded, widthOf } from '../screen/cells.ts'
import { Frame, span, type Span } from '../screen/frame.ts'
import { hintsOf, keyText } from '../state/bindings.ts'
import { wrapped } from '../state/content.ts'
import { favoriteHints } from '../state/favorites.ts'
import { completed } from '../state/prompt.ts'
import { objectText } from '../state/resources.ts'
import { bodyRows, headerRows, shownView, type State } from '../state/state.ts'
import type { View } from '../state/views.ts'
import { drawMap } from './map.ts'
import { drawTable } from './table.ts'
import { drawFlow, drawText } from './text.ts'
import { crumbOf, titleOf } from './title.ts'

/** Below this size nothing useful fits. */
const widthMin = 40
const heightMin = 8
const factColumns = 34
/** A longer name of a namespace is cut. */
const labelColumns = 16

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
  // The first namespaces come before the keys, the others where there is room for them.
  const [first = [], ...others] = isNamespaced(view) ? stacked(favoriteHints(state), rows) : []
  for (const column of [first, ...stacked(hintsOf(view), rows), ...others]) {
    if (column.length === 0) continue
    const texts = column.map(([key, label]) => [`<${key}>`, ` ${fitted(label, labelColumns)}`] as const)
    const columns = Math.max(...texts.map((parts) => widthOf(parts.join('')))) + 2
    if (x + columns - 2 > frame.width) return
    for (const [y, [key, label]] of texts.entries()) frame.putSpans(x, y, [span(key, 'key'), span(label, 'dim')])
    x += columns
  }
}

type Hint = readonly [key: string, label: string]

/** One below the other, in columns. */
const stacked = (hints: readonly Hint[], rows: number): readonly (readonly Hint[])[] =>
  Array.from({ length: Math.ceil(hints.length / rows) }, (_, at) => hints.slice(at * rows, (at + 1) * rows))

const isNamespaced = (view: View): boolean =>
  view.kind === 'table' && view.source.kind === 'list' && view.source.resource.namespaced

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
  const { notice } = state
  if (state.prompt === undefined && notice !== undefined && widthOf(notice.text) + 2 > frame.width) {
    const lines = wrapped(notice.text, frame.width - 2).slice(0, noticeRowsMax)
    const style = notice.isError ? 'failure' : 'success'
    for (const [index, line] of lines.entries())
      frame.put(0, y - lines.length + 1 + index, ` ${line}`.padEnd(frame.width), style)
    return
  }
  const right = state.prompt === undefined ? statusSpan(state, view, Math.floor(frame.width / 2)) : undefined
  const room = right === undefined ? frame.width : Math.max(0, frame.width - widthOf(right.text) - 2)
  frame.putSpans(0, y, lastLine(state, room), room)
  if (right !== undefined) frame.putSpans(room + 1, y, [right])
}

/** Whether the data of the view is current. */
function statusSpan(state: State, view: View, columns: number): Span | undefined {
  const { status } = view
  if (status.kind === 'loading') return span('loading…', 'dim')
  if (status.kind !== 'failed' || isEmpty(view) || state.notice !== undefined) return undefined
  return span(padded(`not current: ${status.reason}`, columns), 'failure')
}

const answers = [span('<y>', 'key'), span(' yes  ', 'dim'), span('<n>', 'key'), span(' no', 'dim')]
/** Of the question and its answers, without the name of the object. */
const questionColumns = 26
/** A longer notice is cut. */
const noticeRowsMax = 3

function lastLine(state: State, room: number): Span[] {
  const { prompt, notice } = state
  if (prompt !== undefined) {
    if (prompt.kind === 'confirm') {
      const left = Math.max(0, room - questionColumns)
      const text = objectText(prompt.object)
      const object = fitted(widthOf(text) <= left ? text : prompt.object.name, left)
      const verb = prompt.action === 'delete' ? 'Delete' : 'Restart'
      return [span(` ${verb} ${object}? `, 'failure'), ...answers]
    }
    if (prompt.kind === 'scale' || prompt.kind === 'forward') {
      const what = prompt.kind === 'scale' ? 'Replicas' : 'Ports (8080:80)'
      const taken = widthOf(` ${what} of :  ${prompt.text} `)
      return [
        span(` ${what} of ${fitted(objectText(prompt.object), Math.max(0, room - taken))}: `, 'dim'),
        span(prompt.text, prompt.isProposed ? 'selected' : 'bold'),
        span(' ', 'selected'),
      ]
    }
    const sign = prompt.kind === 'command' ? ':' : '/'
    const rest = prompt.kind === 'command' ? completed(state, prompt.text).slice(prompt.text.length) : ''
    return [
      span(` ${sign}${prompt.text}`, 'bold'),
      span(rest === '' ? ' ' : rest.slice(0, 1), 'selected'),
      span(rest.slice(1), 'dim'),
    ]
  }
  if (notice !== undefined) return [span(` ${notice.text}`, notice.isError ? 'failure' : 'success')]
  return crumbSpans(state, room)
}

/** The views that lead to this one. Where there is not enough room, the first ones are left out. */
function crumbSpans({ views }: State, room: number): Span[] {
  const crumbs = views.map(crumbOf)
  const last = crumbs.at(-1) ?? ''
  const back = views.length > 1 ? `  <${keyText('esc')}> back` : ''
  const before = (from: number): string =>
    ` ${from > 0 ? '… › ' : ''}${crumbs
      .slice(from, -1)
      .map((crumb) => `${crumb} › `)
      .join('')}`
  let from = 0
  while (from < crumbs.length - 1 && widthOf(before(from) + last + back) > room) from++
  return [span(before(from), 'dim'), span(last, 'bold'), span(back, 'dim')]
}
