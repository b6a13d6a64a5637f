// HistoryWindow: which changes the watch caches of all kinds drop. Without it, a kind that rarely changes would keep changes of
// past hours, up to its own bound, and the histories of all kinds would fill up for hours.

/** Younger changes are kept, up to the bound of each kind. The pages of a list are read for as long. */
export const historyMsMin = 5 * 60_000
/** As many revisions are kept at any age: on a quiet cluster, past states can be shown. */
export const historyRevisionsMin = 10_000
/** The times of revisions are known to a tenth of the window. */
const marksMax = 10
const markMs = historyMsMin / marksMax

interface Mark {
  readonly revision: number
  readonly atMs: number
}

export class HistoryWindow {
  /** Revisions and when they were reached, oldest first. */
  #marks: Mark[] = []

  /** The revision up to which changes are dropped, once in a while. */
  advance(revision: number, nowMs: number): number | undefined {
    const last = this.#marks.at(-1)
    if (last !== undefined && nowMs - last.atMs < markMs) return undefined
    const old = this.#marks.findLastIndex(({ atMs }) => nowMs - atMs >= historyMsMin)
    const droppable = this.#marks[old]?.revision
    this.#marks = [...this.#marks.slice(Math.max(0, old)), { revision, atMs: nowMs }]
    return droppable === undefined ? undefined : Math.min(droppable, revision - historyRevisionsMin)
  }

  /** The store starts again, maybe at an earlier revision. */
  reset(): void {
    this.#marks = []
  }
}
