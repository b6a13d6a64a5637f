// mergePast: the past of several records in order of time. Each record is in the order of its server; the clocks of servers differ
// by little.
import { unlessAborted } from '../../base/async/unless-aborted.ts'
import type { Clock } from '../../base/time/clock.ts'
import { WorkSlice } from '../../base/work/work-slice.ts'
import type { PeerEvent } from '../../base/observability/flow-recorder.ts'
import type { Piece } from './record-pieces.ts'

/** A server that sends nothing for so long is left out. */
export const silenceMsMax = 3_000

export type Pieces = AsyncIterator<Piece, unknown, undefined>

/** Returns the records that could not be read to the end of their past, with the errors. */
export async function mergePast(
  records: readonly Pieces[],
  use: (event: PeerEvent) => void,
  clock: Clock,
  signal: AbortSignal,
): Promise<ReadonlyMap<Pieces, unknown>> {
  const failed = new Map<Pieces, unknown>()
  const pasts = records.map((record) => new Past(record, clock))
  const fill = async (past: Past) => {
    try {
      await past.fill(signal)
    } catch (error) {
      signal.throwIfAborted()
      past.end()
      failed.set(past.record, error)
    }
  }
  await Promise.all(pasts.map(fill))
  const slice = new WorkSlice(clock)
  for (;;) {
    for (const past of pasts) if (past.isEmpty) await fill(past)
    const next = oldest(pasts)?.take()
    if (next === undefined) return failed
    use(next)
    if (slice.isUsedUp()) await slice.next()
  }
}

function oldest(pasts: readonly Past[]): Past | undefined {
  let found: Past | undefined
  for (const past of pasts) if (past.atMs < (found?.atMs ?? Infinity)) found = past
  return found
}

class Past {
  readonly record: Pieces
  readonly #clock: Clock
  #events: readonly PeerEvent[] = []
  #at = 0
  #isOver = false

  constructor(record: Pieces, clock: Clock) {
    this.record = record
    this.#clock = clock
  }

  /** Of the first event; Infinity if there is none. */
  get atMs(): number {
    return this.#events[this.#at]?.atMs ?? Infinity
  }

  /** Whether more must be read before the first event is known. */
  get isEmpty(): boolean {
    return this.#at === this.#events.length && !this.#isOver
  }

  take(): PeerEvent | undefined {
    return this.#events[this.#at++]
  }

  end(): void {
    this.#isOver = true
  }

  async fill(signal: AbortSignal): Promise<void> {
    while (this.isEmpty) {
      const { done, value } = await this.#next(signal)
      if (done === true) throw new Error('it has closed the connection')
      this.#events = value.events
      this.#at = 0
      this.#isOver = value.endsPast
    }
  }

  async #next(signal: AbortSignal): Promise<IteratorResult<Piece, unknown>> {
    const silence = new AbortController()
    const timer = this.#clock.after(silenceMsMax, () =>
      silence.abort(new Error(`it has sent nothing for ${silenceMsMax / 1000} s`)),
    )
    try {
      return await unlessAborted(this.record.next(), AbortSignal.any([signal, silence.signal]))
    } finally {
      timer.cancel()
    }
  }
}
