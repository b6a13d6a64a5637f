// Reservation: what must be written in the same commit as an object, such as the quota that it is charged to.
import type { Kind } from '../../../api/kind/kind.ts'
import type { ApiObject } from '../../../api/meta/object.ts'
import { StatusError } from '../../../api/errors/status-error.ts'

export interface Reservation {
  readonly kind: Kind
  readonly object: ApiObject
  /** The revision that it must still have. */
  readonly expected: number
}

/** Another writer reserved first: nothing was written, and what is left must be looked at again. */
export class ReservationConflict extends StatusError {
  constructor() {
    super(409, 'Conflict', 'a quota was changed by too many others at the same time; try again')
  }
}

const reservationTries = 32

export class Reservations {
  /** The last of those who wait, by namespace. */
  readonly #last = new Map<string, Promise<void>>()

  /** Writes with what is reserved. Whoever loses to another tries again in its turn, so that a crowd costs no storm. */
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
