// The time that the page shows: the retained revisions, their replay, and the steps of a cluster with virtual time.
import type { ClusterClock, RevisionMark, RevisionRange, Source } from '../source/source.ts'

export interface TimeControlDeps {
  readonly source: Source
  readonly revision: () => number | undefined
  /** Shows the cluster as it was at a revision, or as it is. */
  readonly show: (revision: number | undefined) => void
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  readonly changed: () => void
}

/** How long a replay shows each revision. */
export const replayStepMs = 400

export class TimeControl {
  range: RevisionRange | undefined
  clock: ClusterClock | undefined
  readonly #deps: TimeControlDeps
  #replay: AbortController | undefined
  /** Counts what has been asked for, so that an earlier answer that arrives late is dropped. */
  #asked = 0

  constructor(deps: TimeControlDeps) {
    this.#deps = deps
  }

  get isReplaying(): boolean {
    return this.#replay !== undefined
  }

  /** Reads the range of revisions and the virtual time again. */
  async refresh(): Promise<void> {
    const { source, changed } = this.#deps
    const asked = ++this.#asked
    const range = await source.revisions()
    const clock = await source.actions?.clock()
    if (asked !== this.#asked) return
    this.range = range
    this.clock = clock
    changed()
  }

  /** Runs the cluster's virtual time for a duration, or to the next event. */
  async advance(step: 'event' | number): Promise<void> {
    this.#asked++
    this.clock = await this.#deps.source.actions?.advanceClock(step)
    this.#deps.show(undefined)
    await this.refresh()
  }

  /** Shows one retained revision after the other, from the selected one on, or from the oldest. */
  async replay(): Promise<void> {
    this.stop()
    const { revision, show, sleep, changed } = this.#deps
    await this.refresh()
    const replay = new AbortController()
    this.#replay = replay
    try {
      for (const mark of marksAfter(this.range, revision())) {
        show(mark.revision)
        await sleep(replayStepMs, replay.signal)
      }
      show(undefined)
    } catch (error) {
      if (!replay.signal.aborted) throw error
    } finally {
      if (this.#replay === replay) this.#replay = undefined
      changed()
    }
  }

  /** Ends a replay; the page still shows the revision that it had reached. */
  stop(): void {
    this.#replay?.abort()
    this.#replay = undefined
    this.#deps.changed()
  }

  /** Ends a replay, and shows the cluster as it is. */
  showPresent(): void {
    this.stop()
    this.#deps.show(undefined)
  }

  /** When a revision was written, if it is known. */
  atMs(revision: number): number | undefined {
    return this.range?.marks.findLast((mark) => mark.revision <= revision)?.atMs
  }
}

/** The marks that a replay shows: after the selected revision, or all if none or the newest is selected. */
export function marksAfter(range: RevisionRange | undefined, revision: number | undefined): readonly RevisionMark[] {
  if (range === undefined) return []
  const from = revision === undefined || revision >= range.newest ? 0 : revision
  return range.marks.filter((mark) => mark.revision > from)
}
