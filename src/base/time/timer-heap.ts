// TimerHeap: timers ordered by (due time, creation), as a binary heap with lazy cancellation.
import type { Timer } from './clock.ts'

export interface DueTimer extends Timer {
  readonly dueMs: number
  readonly callback: () => void
}

interface Entry extends DueTimer {
  readonly sequence: number
  cancelled: boolean
}

export class TimerHeap {
  #heap: Entry[] = []
  #sequence = 0
  #live = 0

  get size(): number {
    return this.#live
  }

  add(dueMs: number, callback: () => void): Timer {
    const entry: Entry = {
      dueMs,
      callback,
      sequence: this.#sequence++,
      cancelled: false,
      cancel: () => {
        if (entry.cancelled) return
        entry.cancelled = true
        this.#live--
        this.#compact()
      },
    }
    this.#live++
    this.#heap.push(entry)
    this.#up(this.#heap.length - 1)
    return entry
  }

  /** Removes and returns the first timer that is due at `untilMs`, or undefined. */
  takeDue(untilMs: number): DueTimer | undefined {
    for (let first = this.#heap[0]; first !== undefined; first = this.#heap[0]) {
      if (!first.cancelled && first.dueMs > untilMs) return undefined
      this.#removeFirst()
      if (first.cancelled) continue
      first.cancelled = true // a late cancel() must not count it twice
      this.#live--
      return first
    }
    return undefined
  }

  // Cancelled entries are removed when they are the majority, so that the heap has at most twice as many entries as
  // live timers.
  #compact(): void {
    if (this.#heap.length < 64 || this.#heap.length < this.#live * 2) return
    this.#heap = this.#heap.filter((entry) => !entry.cancelled).toSorted((a, b) => (before(a, b) ? -1 : 1))
  }

  #removeFirst(): void {
    const last = this.#heap.pop()
    if (last === undefined || this.#heap.length === 0) return
    this.#heap[0] = last
    this.#down(0)
  }

  #up(start: number): void {
    let index = start
    while (index > 0) {
      const parent = (index - 1) >> 1
      if (!this.#swapIfBefore(index, parent)) return
      index = parent
    }
  }

  #down(start: number): void {
    let index = start
    for (;;) {
      const left = index * 2 + 1
      const right = left + 1
      const least = this.#isBefore(right, left) ? right : left
      if (!this.#swapIfBefore(least, index)) return
      index = least
    }
  }

  #isBefore(a: number, b: number): boolean {
    const first = this.#heap[a]
    const second = this.#heap[b]
    return first !== undefined && second !== undefined && before(first, second)
  }

  #swapIfBefore(a: number, b: number): boolean {
    const first = this.#heap[a]
    const second = this.#heap[b]
    if (first === undefined || second === undefined || !before(first, second)) return false
    this.#heap[a] = second
    this.#heap[b] = first
    return true
  }
}

const before = (a: Entry, b: Entry): boolean => a.dueMs < b.dueMs || (a.dueMs === b.dueMs && a.sequence < b.sequence)
