// Reservation: a write in the same commit as an object, such as the usage of the quota that counts it.
import type { Kind } from '../../../api/kind/kind.ts'
import type { ApiObject } from '../../../api/meta/object.ts'
import { StatusError } from '../../../api/errors/status-error.ts'

export interface Reservation {
  readonly kind: Kind
  readonly object: ApiObject
  /** The revision that the object must still have. */
  readonly expected: number
}

/** Another writer changed the reserved object first: nothing was written, and the reservation must be computed again. */
export class ReservationConflict extends StatusError {
  constructor() {
    super(409, 'Conflict', 'a quota was changed by too many requests at the same time; try again')
  }
}

const reservationTries = 32

export class Reservations {
  /** The last waiting writer of each namespace. */
  readonly #last = new Map<string, Promise<void>>()

  /** Commits with reservations. After a conflict, writers of a namespace retry one after the other, so that they do not conflict again. */
  async write<T>(
    namespace: string,
    reserve: () => Promise<readonly Reservation[]>,
    commit: (reserved: readonly Reservation[]) => Promise<T>,
  ): Promise<T> {
    try {
      return await commit(await reserve())
    } catch (error) {
      if (!(error instanceof ReservationConflict)) throw error
      return await this.#inTurn(namespace, () => retried(reserve, commit))
    }
  }

  async #inTurn<T>(namespace: string, work: () => Promise<T>): Promise<T> {
    const result = (this.#last.get(namespace) ?? Promise.resolve()).then(work)
    const ended = result.then(nothing, nothing)
    this.#last.set(namespace, ended)
    try {
      return await result
    } finally {
      if (this.#last.get(namespace) === ended) this.#last.delete(namespace)
    }
  }
}

const nothing = () => {}

async function retried<T>(
  reserve: () => Promise<readonly Reservation[]>,
  commit: (reserved: readonly Reservation[]) => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries++)
    try {
      return await commit(await reserve())
    } catch (error) {
      if (!(error instanceof ReservationConflict) || tries === reservationTries) throw error
    }
}
