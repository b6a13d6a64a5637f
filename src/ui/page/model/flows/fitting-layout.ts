// The layout of a diagram in a window: texts are wrapped so that the lifelines fit, if they can; what a scrolled window cannot show of
// a row is at its edge.
import type { DrawnMessage } from '../../../../flows/svg/drawn-message.ts'
import { fontPx, sequenceLayout, type Row, type SequenceLayout } from '../../../../flows/svg/sequence-layout.ts'
import { textWidthPx } from '../../../../flows/svg/text-width.ts'

/** Widths of texts; the widest one is used with which the lifelines fit, or the widest one for the window. */
const labelWidthsPx = [180, 150, 120, 96] as const
const narrowPx = 600
const narrowLabelPx = 120
/** The column of times stays at the left. */
export const timesPx = 74
const edgePx = 8

export function fittingLayout(
  messages: readonly DrawnMessage[],
  participants: readonly string[],
  windowPx: number,
): SequenceLayout {
  for (const labelPxMax of labelWidthsPx) {
    const layout = sequenceLayout(messages, { labelPxMax, participants })
    if (layout.widthPx <= windowPx) return layout
  }
  const labelPxMax = windowPx < narrowPx ? narrowLabelPx : labelWidthsPx[0]
  return sequenceLayout(messages, { labelPxMax, participants })
}

/** A part of the diagram, from left to right. */
export interface Span {
  readonly leftPx: number
  readonly rightPx: number
}

export type LabelPlace =
  | { readonly kind: 'inside'; readonly x: number; readonly anchor: 'start' | 'middle' }
  /** The arrow is beyond an edge of the window. */
  | { readonly kind: 'beyond'; readonly x: number; readonly anchor: 'start' | 'end'; readonly sign: '←' | '→' }

/** Where the text of a row is: at the visible part of its arrow, or at the edge beyond which its arrow is. */
export function placeLabel(row: Row, { leftPx, rightPx }: Span): LabelPlace {
  const [start, end] = spanOf(row)
  const left = leftPx + timesPx
  if (end < left) return { kind: 'beyond', x: left, anchor: 'start', sign: '←' }
  if (start > rightPx) return { kind: 'beyond', x: rightPx - edgePx, anchor: 'end', sign: '→' }
  if (row.anchor === 'start') return { kind: 'inside', x: row.textX, anchor: 'start' }
  return { kind: 'inside', x: (Math.max(start, left) + Math.min(end, rightPx)) / 2, anchor: 'middle' }
}

/** What is at the edge in place of an arrow beyond it, shortened so that it does not reach the times. */
export function beyondText(
  { message: { from, to, text } }: Pick<Row, 'message'>,
  sign: '←' | '→',
  { leftPx, rightPx }: Span,
): string {
  const route = from === to ? from : `${from} → ${to}`
  const whole = sign === '←' ? `← ${route}: ${text}` : `${route}: ${text} →`
  const spacePx = rightPx - leftPx - timesPx - edgePx
  const fits = (shown: string): boolean => textWidthPx(shown, fontPx) <= spacePx
  const characters = Array.from(whole)
  // The arrow at the end stays.
  const end = sign === '→' ? '… →' : '…'
  let shown = whole
  for (let kept = characters.length - end.length; kept > 0 && !fits(shown); kept--)
    shown = `${characters.slice(0, kept).join('')}${end}`
  return shown
}

/** Where a window of a width begins, so that it shows as many of the rows' arrows as possible. */
export function readableLeftPx(rows: readonly Row[], layoutPx: number, windowPx: number): number {
  const leftMax = Math.max(0, layoutPx - windowPx)
  const starts = rows.map((row) => Math.min(leftMax, Math.max(0, spanOf(row)[0] - timesPx - edgePx)))
  let best = { leftPx: 0, visible: -1 }
  for (const leftPx of [...new Set([0, ...starts])].toSorted((a, b) => a - b)) {
    const visible = rows.filter((row) => isInside(row, leftPx, windowPx)).length
    if (visible > best.visible) best = { leftPx, visible }
  }
  return best.leftPx
}

/** Where a window begins that shows a row: where it is, if the row is visible there. */
export function revealedLeftPx(row: Row, leftPx: number, windowPx: number): number {
  return isInside(row, leftPx, windowPx) ? leftPx : Math.max(0, spanOf(row)[0] - timesPx - edgePx)
}

const isInside = (row: Row, leftPx: number, windowPx: number): boolean => {
  const [start, end] = spanOf(row)
  return start >= leftPx + timesPx && end <= leftPx + windowPx
}

const spanOf = ({ fromX, toX }: Row): readonly [start: number, end: number] => [
  Math.min(fromX, toX),
  Math.max(fromX, toX),
]
