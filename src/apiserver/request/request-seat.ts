/** A seat of priority and fairness, which can be returned while the request waits for its body or its turn. */
export interface RequestSeat {
  leave(): void
  /** Rejects with 429 where no seat is free in time. */
  takeAgain(): Promise<void>
}
