// The layout of a sequence diagram: positions of lifelines, arrows and texts. Pure, so that it can be tested without a
// browser. The distance of lifelines follows from the texts between them.
import type { Arrow } from '../../base/observability/flow-recorder.ts'
import type { DrawnMessage } from './drawn-message.ts'
import { textWidthPx, wrapText } from './text-width.ts'

export interface Lifeline {
  readonly name: string
  readonly x: number
  readonly widthPx: number
}

export interface Row {
  readonly message: DrawnMessage
  readonly time: string
  /** The top of the row, and the line of its arrow. */
  readonly top: number
  readonly y: number
  /** Equal for a message to itself. */
  readonly fromX: number
  readonly toX: number
  readonly lines: readonly string[]
  readonly textX: number
  readonly anchor: 'start' | 'middle'
}

export interface SequenceLayout {
  readonly widthPx: number
  readonly heightPx: number
  readonly lifelines: readonly Lifeline[]
  readonly rows: readonly Row[]
}

export interface LayoutOptions {
  /** Texts are wrapped beyond this width. */
  readonly labelPxMax?: number
  /** The lifelines in their order; by default in order of appearance. */
  readonly participants?: readonly string[]
}

export const fontPx = 12
export const headerPx = 34
const linePx = 15
const rowPaddingPx = 13
const marginPx = 12
const timePx = 62
const labelPaddingPx = 26
/** The space that a loop takes to the right of its lifeline. */
export const loopPx = 22
const linesMax = 4
const lifelineGapPxMin = 56
/** Names of lifelines are bold. */
const boldFactor = 1.08

export function sequenceLayout(
  messages: readonly DrawnMessage[],
  { labelPxMax = 170, participants = [] }: LayoutOptions = {},
): SequenceLayout {
  const names = [...new Set([...participants, ...messages.flatMap(({ from, to }) => [from, to])])]
  const lifelines = placeLifelines(names, messages, labelPxMax)
  const xOf = new Map(lifelines.map(({ name, x }) => [name, x]))
  const rows: Row[] = []
  let top = headerPx + 8
  let widthPx = (lifelines.at(-1)?.x ?? 0) + (lifelines.at(-1)?.widthPx ?? 0) / 2
  for (const message of messages) {
    const fromX = xOf.get(message.from) ?? 0
    const toX = xOf.get(message.to) ?? 0
    const isLoop = fromX === toX
    const lines = wrapText(
      labelOf(message),
      Math.max(labelPxMax, Math.abs(toX - fromX) - labelPaddingPx),
      fontPx,
      linesMax,
    )
    const textX = isLoop ? fromX + loopPx + 6 : (fromX + toX) / 2
    const textPx = Math.max(...lines.map((line) => textWidthPx(line, fontPx)))
    widthPx = Math.max(widthPx, isLoop ? textX + textPx : textX + textPx / 2)
    const y = isLoop ? top + (lines.length * linePx) / 2 + 4 : top + lines.length * linePx + 4
    const anchor = isLoop ? 'start' : 'middle'
    rows.push({ message, time: timeText(message.afterMs), top, y, fromX, toX, lines, textX, anchor })
    top += lines.length * linePx + rowPaddingPx
  }
  return { widthPx: Math.ceil(widthPx) + marginPx, heightPx: top + marginPx, lifelines, rows }
}

/** The height of one line of a text. */
export const textLinePx = linePx

const labelOf = ({ text, count }: DrawnMessage): string => (count > 1 ? `${text} ×${count}` : text)

function placeLifelines(names: readonly string[], messages: readonly DrawnMessage[], labelPxMax: number): Lifeline[] {
  const index = new Map(names.map((name, at) => [name, at]))
  const needs = messages.map((message) => needOf(message, index, labelPxMax))
  const placed: Lifeline[] = []
  for (const [at, name] of names.entries()) {
    const widthPx = Math.ceil(textWidthPx(name, fontPx) * boldFactor) + 20
    const before = placed.at(-1)
    let x = before === undefined ? marginPx + timePx + widthPx / 2 : before.x + (before.widthPx + widthPx) / 2 + 10
    if (before !== undefined) x = Math.max(x, before.x + lifelineGapPxMin)
    for (const { left, right, px } of needs)
      if (right === at && left < at) x = Math.max(x, (placed[left] as Lifeline).x + px)
    placed.push({ name, x: Math.round(x), widthPx })
  }
  return placed
}

/** The distance that a message needs between two lifelines. A loop's text may cover the lifelines to its right. */
function needOf(
  message: DrawnMessage,
  index: ReadonlyMap<string, number>,
  labelPxMax: number,
): { left: number; right: number; px: number } {
  const from = index.get(message.from) ?? 0
  const to = index.get(message.to) ?? 0
  const labelPx = Math.min(labelPxMax, textWidthPx(labelOf(message), fontPx)) + labelPaddingPx
  return { left: Math.min(from, to), right: Math.max(from, to), px: labelPx }
}

function timeText(ms: number): string {
  if (ms < 10_000) return `+${Math.round(ms)}ms`
  const seconds = ms / 1000
  return seconds < 600 ? `+${seconds.toFixed(1)}s` : `+${Math.floor(seconds / 60)}m${Math.round(seconds % 60)}s`
}

/** The line of an arrow as the data of an SVG path, and its head. */
export function arrowPaths({ fromX, toX, y, message }: Row): { readonly line: string; readonly head: string } {
  if (fromX === toX) {
    if (message.arrow === 'step') return { line: `M${fromX} ${y}h${loopPx}`, head: dot(fromX, y) }
    return { line: `M${fromX} ${y - 6}h${loopPx - 4}v12h${8 - loopPx}`, head: head(fromX, y + 6, -1) }
  }
  const direction = toX > fromX ? 1 : -1
  const end = toX - 4 * direction
  const line =
    message.arrow === 'persist' ? `M${fromX} ${y - 1.5}H${end}M${fromX} ${y + 1.5}H${end}` : `M${fromX} ${y}H${end}`
  return { line, head: head(toX, y, direction) }
}

const head = (x: number, y: number, direction: 1 | -1): string => `M${x} ${y}l${-8 * direction} -4v8z`
const dot = (x: number, y: number): string => `M${x - 4} ${y}a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z`

/** The class of an arrow's line. */
export const lineKind = ({ arrow, isInferred }: DrawnMessage): Arrow | 'inferred' => (isInferred ? 'inferred' : arrow)
