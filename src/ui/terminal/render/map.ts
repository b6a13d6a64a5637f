// The map: participants in columns with the rate of their messages, and below them each line with its rate and errors.
import { fitted, padded, widthOf } from '../screen/cells.ts'
import { span, type Frame, type Span } from '../screen/frame.ts'
import { bodyRows, mapRows, type State } from '../state/state.ts'
import { offsetFor } from '../state/scroll.ts'
import type { MapLine, MapView } from '../state/views.ts'
import { columnWidths } from './column-widths.ts'

export const columnTitles = ['CLIENTS', 'API SERVER', 'CONTROLLERS', 'NODES'] as const

export function drawMap(frame: Frame, top: number, state: State, view: MapView): void {
  const chart = mapRows(state)
  if (chart > 0) drawParticipants(frame, top, chart, view)
  drawLines(frame, top + chart, bodyRows(state, view), view)
  if (view.lines.length === 0 && view.status.kind === 'live') frame.put(1, top + chart + 1, 'no messages yet', 'dim')
}

/** The rate of each participant is that of all its lines. */
function drawParticipants(frame: Frame, top: number, height: number, { columns, lines }: MapView): void {
  const width = Math.floor((frame.width - 1) / columnTitles.length)
  for (const [at, title] of columnTitles.entries()) {
    const x = 1 + at * width
    frame.put(x, top, title, 'bold')
    const names = columns[at] ?? []
    const room = height - 2
    const shown = names.length > room ? names.slice(0, room - 1) : names
    for (const [index, name] of shown.entries()) {
      const own = lines.filter(({ from, to }) => from === name || to === name)
      const rate = own.reduce((sum, { perSecond }) => sum + perSecond, 0)
      const errors = own.reduce((sum, { errorsPerSecond }) => sum + errorsPerSecond, 0)
      const style = errors > 0 ? 'failure' : rate > 0 ? 'call' : 'dim'
      const text = rate > 0 ? `${rateText(rate)}/s` : ''
      frame.put(x, top + 1 + index, `${padded(name, width - 3 - text.length)} ${text}`, style, x + width - 1)
    }
    if (shown.length < names.length) frame.put(x, top + height - 2, `and ${names.length - shown.length} more`, 'dim')
  }
}

const rateText = (perSecond: number): string => (perSecond >= 10 ? perSecond.toFixed(0) : perSecond.toFixed(1))

const rateColumns = 7
const barColumns = 16
/** Narrower terminals have no bars. */
const barsFromColumns = 60

function drawLines(frame: Frame, top: number, height: number, view: MapView): void {
  const bars = frame.width >= barsFromColumns ? barColumns : 0
  const natural = (['from', 'to'] as const).map((end) => Math.max(10, ...view.lines.map((line) => widthOf(line[end]))))
  const [fromColumns = 0, toColumns = 0] = columnWidths(natural, frame.width - 3 - 2 * rateColumns - bars, 3)
  const names = (from: string, sign: string, to: string): string =>
    `${padded(from, fromColumns)} ${sign} ${padded(to, toColumns)}`
  const head = `${names('FROM', ' ', 'TO')} ${'MSG/S'.padStart(rateColumns)}${'ERR/S'.padStart(rateColumns)}`
  frame.put(1, top, head, 'bold')
  const offset = offsetFor(view.offset, view.cursor, height, view.lines.length)
  const busiest = Math.max(1, ...view.lines.map(({ perSecond }) => perSecond))
  for (const [index, line] of view.lines.slice(offset, offset + height).entries()) {
    const y = top + 1 + index
    frame.putSpans(1, y, lineSpans(line, names(line.from, '↔', line.to), busiest))
    if (offset + index === view.cursor) frame.restyle(0, y, frame.width, 'selected')
  }
}

function lineSpans({ perSecond, errorsPerSecond }: MapLine, names: string, busiest: number): Span[] {
  const bar = '▪'.repeat(perSecond === 0 ? 0 : Math.max(1, Math.round((perSecond / busiest) * (barColumns - 2))))
  const rate = perSecond.toFixed(1)
  const errors = errorsPerSecond.toFixed(1)
  const style = errorsPerSecond > 0 ? 'failure' : perSecond > 0 ? 'plain' : 'dim'
  return [
    span(`${names} ${rate.padStart(rateColumns)}${errors.padStart(rateColumns)}  `, style),
    span(fitted(bar, barColumns - 2), errorsPerSecond > 0 ? 'failure' : 'call'),
  ]
}
