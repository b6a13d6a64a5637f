// A flow as a sequence diagram in text: a lifeline for each participant, an arrow for each message, in order of time.
// Similar branches are folded: a hundred pods of one ReplicaSet are drawn once, with a count.
import type { Arrow, FlowEvent } from '../base/observability/flow-recorder.ts'
import type { FlowNode } from './flow-graph.ts'
import { eventText } from './fold-branches.ts'
import { messagesOf, type FlowMessage } from './flow-messages.ts'
import { truncate, hasFailed, colorizerFor, type Colorize } from './diagram-colors.ts'
import { textDiagram, type DiagramOptions } from './text-diagram.ts'

const lines: Readonly<Record<Arrow, string>> = { call: '─', watch: '-', persist: '═', reconcile: '·', step: '·' }
/** For calls whose cause is inferred. */
const inferredLine = '╌'
const timeWidth = 9
/** The distance between lifelines: the widest that fits is used. */
const laneWidths = [5, 4, 3] as const
/** The minimum width for the text of a message. */
const textColumnsMin = 24

/** The distance between lifelines in a live diagram, whose participants are not known in advance. */
export const liveLaneWidth = (columns = Infinity): number => (columns < 120 ? laneWidths[2] : laneWidths[0])

/** Draws one message at a time; a participant gets its lifeline when it first appears. */
export class SequenceDiagram {
  readonly #lanes: string[] = []
  readonly #options: DiagramOptions
  readonly #laneWidth: number
  readonly #paint: Colorize
  #startMs: number | undefined

  constructor(options: DiagramOptions = { fold: true }, laneWidth: number = laneWidths[0]) {
    this.#options = options
    this.#laneWidth = laneWidth
    this.#paint = colorizerFor(options.colors)
  }

  /** The lines for a message, preceded by those of new participants. */
  draw(message: FlowMessage): string[] {
    const { event } = message
    const drawn = this.introduce([event.from, event.to])
    this.#startMs ??= event.atMs
    const time = timeText(event.atMs - this.#startMs).padStart(timeWidth)
    const { columns = Infinity } = this.#options
    const room = Math.max(textColumnsMin, columns - this.#width() - timeWidth - 4)
    const text = this.#paint(hasFailed(event) ? 'failure' : undefined, messageText(message, this.#options, room))
    return [...drawn, `${this.#paint('dim', time)}  ${this.#arrow(event, message.isInferred)}  ${text}`]
  }

  /** Adds lifelines for new participants. */
  introduce(names: readonly string[]): string[] {
    const fresh = [...new Set(names)].filter((name) => !this.#lanes.includes(name))
    return fresh.map((name) => {
      const before = this.#lanes.map(() => '│'.padEnd(this.#laneWidth)).join('')
      this.#lanes.push(name)
      return `${' '.repeat(timeWidth)}  ${this.#paint('dim', before)}${this.#paint('bold', name)}`
    })
  }

  #width(): number {
    return (this.#lanes.length - 1) * this.#laneWidth + 1
  }

  #arrow({ arrow, from, to }: FlowEvent, isInferred: boolean): string {
    const step = this.#laneWidth
    const cells = Array.from({ length: this.#width() }, (_, at): string => (at % step === 0 ? '│' : ' '))
    const start = this.#lanes.indexOf(from) * step
    const end = this.#lanes.indexOf(to) * step
    const line = isInferred ? inferredLine : lines[arrow]
    let first = Math.min(start, end) + 1
    let last = Math.max(start, end) - 1
    if (start === end) {
      ;[first, last] = [Math.max(0, end - step + 2), end]
      cells[end] = arrow === 'step' ? '•' : '►'
      for (let at = first; at < last; at++) cells[at] = line
    } else {
      for (let at = first; at <= last; at++) cells[at] = line
      cells[start < end ? last : first] = start < end ? '►' : '◄'
    }
    const part = (from_: number, to_?: number): string => cells.slice(from_, to_).join('')
    return `${this.#paint('dim', part(0, first))}${this.#paint(arrow, part(first, last + 1))}${this.#paint('dim', part(last + 1))}`
  }
}

/** The text, count and authorization rule of a message. A truncated text keeps its count. */
function messageText({ event, count }: FlowMessage, { rules }: DiagramOptions, columns = Infinity): string {
  const times = count > 1 ? `  ×${count}` : ''
  const rule = rules && event.allowedBy ? `  (${event.allowedBy})` : ''
  return truncate(`${truncate(eventText(event), columns - times.length)}${times}${rule}`, columns)
}

function timeText(ms: number): string {
  if (ms < 10_000) return `+${Math.round(ms)}ms`
  const seconds = ms / 1000
  return seconds < 600 ? `+${seconds.toFixed(1)}s` : `+${Math.floor(seconds / 60)}m${Math.round(seconds % 60)}s`
}

export function sequenceDiagram(roots: readonly FlowNode[], options: DiagramOptions = { fold: true }): string {
  const drawn = messageDiagram(messagesOf(roots, options), options)
  return drawn === undefined ? textDiagram(roots, options) : drawn.map((line) => `${line.trimEnd()}\n`).join('')
}

/** The lines of the diagram; undefined if its lifelines do not fit. */
export function messageDiagram(messages: readonly FlowMessage[], options: DiagramOptions): string[] | undefined {
  const participants = [...new Set(messages.flatMap(({ event }) => [event.from, event.to]))]
  const laneWidth = laneWidthOf(participants.length, messages, options)
  if (laneWidth === undefined) return undefined
  const lifelines = new SequenceDiagram(options, laneWidth)
  return [...lifelines.introduce(participants), ...messages.flatMap((message) => lifelines.draw(message))]
}

/** The widest distance with which all texts fit, or the narrowest; undefined if that is still too wide. */
function laneWidthOf(lanes: number, messages: readonly FlowMessage[], options: DiagramOptions): number | undefined {
  const { columns } = options
  if (columns === undefined) return laneWidths[0]
  const textColumns = Math.max(0, ...messages.map((message) => messageText(message, options).length))
  const room = (width: number): number => columns - (lanes - 1) * width - 1 - timeWidth - 4
  const narrowest = laneWidths.at(-1) as number
  const fitting = laneWidths.find((width) => room(width) >= textColumns)
  return fitting ?? (room(narrowest) >= textColumnsMin ? narrowest : undefined)
}
