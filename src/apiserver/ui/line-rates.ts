// LineRates: how many messages passed between two participants since the last report, and how many of them failed. The
// map of the web UI draws a line for each pair.
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import type { FlowEvent, FlowId } from '../../base/observability/flow-recorder.ts'

export interface LineRate {
  readonly from: string
  readonly to: string
  readonly messages: number
  readonly errors: number
}

/** The busiest lines are reported. */
export const linesMax = 500

export class LineRates {
  readonly #lines = new Map<string, { from: string; to: string; messages: number; errors: number }>()
  #last: number

  /** Messages up to `last` are not counted. */
  constructor(last: FlowId) {
    this.#last = last
  }

  /** A message is counted when it is first seen, its failure when it has ended. */
  add({ id, from, to, outcome }: FlowEvent): void {
    const isNew = id > this.#last
    const hasFailed = outcome !== undefined && !succeeded.test(outcome)
    if (!isNew && !hasFailed) return
    if (isNew) this.#last = id
    const line = getOrInsert(this.#lines, `${from}\n${to}`, () => ({ from, to, messages: 0, errors: 0 }))
    if (isNew) line.messages++
    if (hasFailed) line.errors++
  }

  /** The lines since the last call, the busiest first. */
  take(): readonly LineRate[] {
    const lines = [...this.#lines.values()].toSorted((a, b) => b.messages - a.messages || b.errors - a.errors)
    this.#lines.clear()
    return lines.slice(0, linesMax)
  }
}

/** Successful outcomes of requests, calls to runtimes, probes and webhooks. */
const succeeded = /^[123]\d\d\b|^(ok|allowed|patched)$/
