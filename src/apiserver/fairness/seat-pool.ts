// SeatPool: the seats of a server, shared by its priority levels. A level always has those that it does not lend;
// beyond them it takes any that are idle, up to its bound.

export interface SeatConsumer {
  /** Whether it has fewer seats than its share. */
  readonly isBelowShare: boolean
  /** Starts what waits, as far as there are seats. */
  dispatch(): void
}

export class SeatPool {
  readonly seats: number
  /** What is in use or kept for levels that do not lend it: the sum of max(in use, kept) over all levels. */
  #committed = 0
  /** Levels with requests that wait. */
  readonly #waiting = new Set<SeatConsumer>()

  constructor(seats: number) {
    this.seats = seats
  }

  /** Moves a level from one number of seats in use to another, when there are so many. */
  tryMove(lower: number, from: number, to: number): boolean {
    const more = Math.max(to, lower) - Math.max(from, lower)
    if (more > 0 && this.#committed + more > this.seats) return false
    this.#committed += more
    return true
  }

  /** A level comes (positive) or goes with what it keeps or uses. */
  addCommitted(seats: number): void {
    this.#committed += seats
  }

  setWaiting(level: SeatConsumer, isWaiting: boolean): void {
    if (isWaiting) this.#waiting.add(level)
    else this.#waiting.delete(level)
  }

  /** Seats have come free: the level that had them is asked first, then those below their share, then borrowers. */
  onSeatsFreed(by: SeatConsumer): void {
    if (this.#waiting.size === 0) return
    by.dispatch()
    for (const isBelow of [true, false])
      for (const level of [...this.#waiting]) if (level.isBelowShare === isBelow) level.dispatch()
  }
}
