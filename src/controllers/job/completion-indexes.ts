// IndexSet: a set of completion indexes in the format of a Job's status, `0-2,5,6`. It is stored as intervals, because a
// Job of an editor may name billions of indexes in a few bytes. A range in the text has at least three indexes.

interface Interval {
  readonly low: number
  readonly high: number
}

export class IndexSet {
  /** In increasing order; there is at least one other index between two intervals. */
  readonly #intervals: readonly Interval[]
  readonly size: number

  private constructor(intervals: readonly Interval[]) {
    this.#intervals = intervals
    this.size = intervals.reduce((sum, { low, high }) => sum + high - low + 1, 0)
  }

  static readonly empty = new IndexSet([])

  /** The indexes in the text that are below the number of completions. Parts that are not intervals are ignored. */
  static parse(text: string | undefined, completions: number): IndexSet {
    if (text === undefined || text === '') return IndexSet.empty
    const intervals = text.split(',').flatMap((part) => {
      const [, low, high = low] = /^(\d+)(?:-(\d+))?$/.exec(part) ?? []
      const interval = { low: Number(low), high: Math.min(Number(high), completions - 1) }
      return interval.low <= interval.high ? [interval] : []
    })
    return new IndexSet(merged(intervals))
  }

  with(indexes: Iterable<number>): IndexSet {
    const added = [...indexes].map((index) => ({ low: index, high: index }))
    return added.length === 0 ? this : new IndexSet(merged([...this.#intervals, ...added]))
  }

  union(other: IndexSet): IndexSet {
    return new IndexSet(merged([...this.#intervals, ...other.#intervals]))
  }

  has(index: number): boolean {
    const interval = this.#intervals[this.#firstEndingAt(index)]
    return interval !== undefined && interval.low <= index
  }

  /** How many indexes are in both sets. */
  countIn(other: IndexSet): number {
    let count = 0
    for (const { low, high } of this.#intervals)
      for (let at = other.#firstEndingAt(low); at < other.#intervals.length; at++) {
        const { low: otherLow, high: otherHigh } = other.#intervals[at] as Interval
        if (otherLow > high) break
        count += Math.min(high, otherHigh) - Math.max(low, otherLow) + 1
      }
    return count
  }

  /** The indexes below the limit that are not in the set, in increasing order. */
  *missingBelow(limit: number): Generator<number, void, undefined> {
    let index = 0
    for (const { low, high } of this.#intervals) {
      for (; index < low && index < limit; index++) yield index
      index = high + 1
    }
    for (; index < limit; index++) yield index
  }

  toString(): string {
    return this.#intervals
      .map(({ low, high }) => (low === high ? `${low}` : high - low === 1 ? `${low},${high}` : `${low}-${high}`))
      .join(',')
  }

  /** The position of the first interval that ends at this index or later. */
  #firstEndingAt(index: number): number {
    let from = 0
    let to = this.#intervals.length
    while (from < to) {
      const middle = (from + to) >> 1
      if ((this.#intervals[middle] as Interval).high < index) from = middle + 1
      else to = middle
    }
    return from
  }
}

function merged(intervals: readonly Interval[]): Interval[] {
  const result: Interval[] = []
  for (const next of intervals.toSorted((a, b) => a.low - b.low)) {
    const last = result.at(-1)
    if (last === undefined || next.low > last.high + 1) result.push(next)
    else if (next.high > last.high) result[result.length - 1] = { low: last.low, high: next.high }
  }
  return result
}
