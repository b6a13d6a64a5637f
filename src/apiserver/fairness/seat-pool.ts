// SeatPool: the seats of a server, shared by its priority levels. A level always has the seats that it does not lend;
// beyond them it borrows idle ones, up to its upper limit.

export interface SeatConsumer {
  /** Whether it uses fewer seats than its nominal limit. */
  readonly isBelowShare: boolean
  /** Starts waiting requests while there are seats. */
  dispatch(): void
}

export class SeatPool {
  readonly seats: number
  /** Seats that are in use or not lent: the sum of max(in use, lower limit) over all levels. */
  #committed = 0
  /** Levels with waiting requests. */
  readonly #waiting = new Set<SeatConsumer>()

  constructor(seats: number) {
    this.seats = seats
  }

  /** Changes the number of seats that a level uses; false where there are not enough. */
  tryMove(lower: number, from: number, to: number): boolean {
    const more = Math.max(to, lower) - Math.max(from, lower)
    if (more > 0 && this.#committed + more > this.seats) return false
    this.#committed += more
    return true
  }

  /** Adds or removes the committed seats of a level. */
  addCommitted(seats: number): void {
    this.#committed += seats
  }

  setWaiting(level: SeatConsumer, isWaiting: boolean): void {
    if (isWaiting) this.#waiting.add(level)
    else this.#waiting.delete(level)
  }

  /** Seats were released: the level that had them goes first, then levels below their nominal limit, then borrowers. */
  onSeatsFreed(by: SeatConsumer): void {
    if (this.#waiting.size === 0) return
    by.dispatch()
    for (const isBelow of [true, false])
      for (const level of [...this.#waiting]) if (level.isBelowShare === isBelow) level.dispatch()
  }
}
