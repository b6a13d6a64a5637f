// When calls passed their stages in the API server.
import type { FlowId } from './flow-id.ts'
import { grown } from '../collections/grown.ts'

/** The stages of a request in the API server, in order. */
export const requestStages = [
  'authentication',
  'fairness',
  'authorization',
  'reading',
  'mutating',
  'validation',
  'validating',
  'store',
] as const
export type RequestStage = (typeof requestStages)[number]

/** When a call passed a stage, and after which event. */
export interface StagePassage {
  readonly stage: RequestStage
  /** Since the start of the call. */
  readonly afterMs: number
  readonly afterEvent: FlowId
}

/** A passage in the record of another API server. */
export interface ReportedPassage extends Omit<StagePassage, 'afterEvent'> {
  /** How many events the other server had recorded since the call. */
  readonly eventsSince: number
}

const stageIndex: Readonly<Record<string, number>> = Object.fromEntries(
  requestStages.map((name, index) => [name, index]),
)
const noPassages: readonly StagePassage[] = []

/** When calls passed their stages: a row of numbers for each slot of the ring, so that recording allocates nothing. */
export class StagePassages {
  #mask: number
  /** The call of each row, and its start. */
  #calls: Float64Array
  #startMs: Float64Array
  #afterMs: Float32Array
  /** Number of events since the call, plus one; 0 if the stage was not passed. */
  #afterEvents: Uint32Array

  constructor(size: number) {
    this.#mask = size - 1
    this.#calls = new Float64Array(size)
    this.#startMs = new Float64Array(size)
    this.#afterMs = new Float32Array(size * requestStages.length)
    this.#afterEvents = new Uint32Array(size * requestStages.length)
  }

  grow(size: number): void {
    this.#mask = size - 1
    this.#calls = grown(this.#calls, new Float64Array(size))
    this.#startMs = grown(this.#startMs, new Float64Array(size))
    this.#afterMs = grown(this.#afterMs, new Float32Array(size * requestStages.length))
    this.#afterEvents = grown(this.#afterEvents, new Uint32Array(size * requestStages.length))
  }

  startStages(id: FlowId, startMs: number): void {
    const slot = id & this.#mask
    this.#calls[slot] = id
    this.#startMs[slot] = startMs
    const row = slot * requestStages.length
    for (let index = 0; index < requestStages.length; index++) this.#afterEvents[row + index] = 0
  }

  passStage(id: FlowId, stage: RequestStage, last: number, nowMs: number): void {
    const slot = id & this.#mask
    if (this.#calls[slot] !== id) return
    const cell = slot * requestStages.length + (stageIndex[stage] as number)
    this.#afterMs[cell] = nowMs - (this.#startMs[slot] as number)
    this.#afterEvents[cell] = last - id + 1
  }

  /** Replaces the passages of a call. */
  set(id: FlowId, passages: readonly ReportedPassage[]): void {
    this.startStages(id, 0)
    const row = (id & this.#mask) * requestStages.length
    for (const { stage, afterMs, eventsSince } of passages) {
      const index = stageIndex[stage]
      if (index === undefined) continue
      this.#afterMs[row + index] = afterMs
      this.#afterEvents[row + index] = eventsSince + 1
    }
  }

  of(id: FlowId): readonly StagePassage[] {
    const slot = id & this.#mask
    if (this.#calls[slot] !== id) return noPassages
    const row = slot * requestStages.length
    return requestStages.flatMap((stage, index) => {
      const events = this.#afterEvents[row + index] as number
      const afterEvent = (id + events - 1) as FlowId
      return events === 0 ? [] : [{ stage, afterMs: this.#afterMs[row + index] as number, afterEvent }]
    })
  }
}
