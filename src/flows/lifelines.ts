// A flow as a sequence diagram in text: a lifeline for each participant, an arrow for each message, in the order of time.
// Alike branches are folded before: a hundred pods of one ReplicaSet are one line of arrows with a count.
import type { Arrow, FlowEvent, Span } from '../base/flow.ts'
import type { FlowNode } from './flow-graph.ts'
import { folded, wordsOf, type Branch } from './fold.ts'
import { withStations } from './stations.ts'
import type { DiagramOptions } from './text-diagram.ts'

export interface Message {
  readonly event: FlowEvent
  /** How many alike it stands for. */
  readonly count: number
  /** What led to it is a guess. */
  readonly isInferred: boolean
}

/** The messages of a flow in the order of time, alike ones once. */
export function messagesOf(roots: readonly FlowNode[], { fold, stations }: DiagramOptions): Message[] {
  const messages: Message[] = []
  const visit = (branches: readonly Branch[]): void => {
    for (const { event, isInferred, count, branches: further } of branches) {
      messages.push({ event, isInferred, count })
      visit(further)
    }
  }
  visit(folded(stations ? withStations(roots) : roots, fold))
  return inOrder(messages)
}

/**
 * In the order of time, and of the record within a millisecond. What another process told came late: it stands before
 * the first that it led to.
 */
function inOrder(messages: readonly Message[]): Message[] {
  const firstLedTo = new Map<Span, number>()
  for (const { event } of messages.toReversed()) {
    const span = event.cause.span
    if (span !== undefined) firstLedTo.set(span, event.id)
  }
  const place = ({ event: { id, span } }: Message): number =>
    span === undefined ? id : (firstLedTo.get(span) ?? id + 0.5) - 0.5
  return messages.toSorted((a, b) => a.event.atMs - b.event.atMs || place(a) - place(b))
}

const lines: Readonly<Record<Arrow, string>> = { call: '─', watch: '-', persist: '═', reconcile: '·', step: '·' }
/** A call whose cause is inferred: its sender does not say. */
const inferredLine = '╌'
const timeWidth = 9
const laneWidth = 5

/** Draws message by message; a participant gets its lifeline when it first appears. */
export class Lifelines {
  readonly #lanes: string[] = []
  readonly #options: DiagramOptions
  #startMs: number | undefined

  constructor(options: DiagramOptions = { fold: true }) {
    this.#options = options
  }

  /** The lines for a message; those before the last introduce participants. */
  draw({ event, count, isInferred }: Message): string[] {
    const drawn = this.introduce([event.from, event.to])
    this.#startMs ??= event.atMs
    const time = timeText(event.atMs - this.#startMs).padStart(timeWidth)
    const times = count > 1 ? `  ×${count}` : ''
    const rule = this.#options.rules && event.allowedBy ? `  (${event.allowedBy})` : ''
    return [...drawn, `${time}  ${this.#arrow(event, isInferred)}  ${wordsOf(event)}${times}${rule}`]
  }

  /** Lifelines for those that have none yet. */
  introduce(names: readonly string[]): string[] {
    const fresh = [...new Set(names)].filter((name) => !this.#lanes.includes(name))
    return fresh.map((name) => {
      const before = this.#lanes.map(() => '│'.padEnd(laneWidth)).join('')
      this.#lanes.push(name)
      return `${' '.repeat(timeWidth)}  ${before}${name}`
    })
  }

  #arrow({ arrow, from, to }: FlowEvent, isInferred: boolean): string {
    const width = (this.#lanes.length - 1) * laneWidth + 1
    const cells = Array.from({ length: width }, (_, at): string => (at % laneWidth === 0 ? '│' : ' '))
    const [start, end] = [this.#lanes.indexOf(from) * laneWidth, this.#lanes.indexOf(to) * laneWidth]
    const line = isInferred ? inferredLine : lines[arrow]
    if (start === end) {
      const self = arrow === 'step' ? '•' : '►'
      cells[end] = self
      for (let at = Math.max(0, end - laneWidth + 2); at < end; at++) cells[at] = line
    } else {
      const [low, high] = [Math.min(start, end), Math.max(start, end)]
      for (let at = low + 1; at < high; at++) cells[at] = line
      cells[start < end ? high - 1 : low + 1] = start < end ? '►' : '◄'
    }
    return cells.join('')
  }
}

function timeText(ms: number): string {
  if (ms < 10_000) return `+${Math.round(ms)}ms`
  const seconds = ms / 1000
  return seconds < 600 ? `+${seconds.toFixed(1)}s` : `+${Math.floor(seconds / 60)}m${Math.round(seconds % 60)}s`
}

export function lifelineDiagram(roots: readonly FlowNode[], options: DiagramOptions = { fold: true }): string {
  const lifelines = new Lifelines(options)
  const messages = messagesOf(roots, options)
  const header = lifelines.introduce(messages.flatMap(({ event }) => [event.from, event.to]))
  const drawn = [...header, ...messages.flatMap((message) => lifelines.draw(message))]
  return drawn.map((line) => `${line.trimEnd()}\n`).join('')
}
