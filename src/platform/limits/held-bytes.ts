// HeldBytes: the bytes that one request or connection holds, measured each second and whenever its client falls behind.
import type { Account, BudgetedConnection, HoldKind, MemoryBudget } from './memory-budget.ts'

/** Smaller amounts are not counted, because the buffers of an idle connection are as large. */
const countedBytesMin = 4 << 10
/** A response is stalled when the client has taken nothing of it for this long. */
const stalledSeconds = 3

/** What a request that waits for its client takes beside the bytes of its body and response. */
export const waitingRequestBytes = 8 << 10

/** How far the client of a connection or stream has received what was written. */
export interface SendProgress {
  /** Written, and not known to have been received by the client. */
  readonly unsentBytes: number
  /** Known to have been received. Only this shows whether a client makes progress: unsent bytes may be as many as before. */
  readonly sentBytes: number
}

export class HeldBytes {
  readonly #budget: MemoryBudget
  readonly #connection: BudgetedConnection
  readonly #shed: () => void
  #account: Account | undefined
  /** The request or connection is being ended, so its bytes are no longer counted. */
  #isShed = false
  #sent = 0
  #secondsUnchanged = 0

  constructor(budget: MemoryBudget, connection: BudgetedConnection, shed: () => void) {
    this.#budget = budget
    this.#connection = connection
    this.#shed = () => {
      this.#isShed = true
      shed()
    }
  }

  get bytes(): number {
    return this.#account?.bytes ?? 0
  }

  /** The bytes of a request body that have been received. */
  body(bytes: number, isComplete: boolean): void {
    this.#hold(bytes, isComplete ? 'processing' : 'receiving')
  }

  /** Response bytes that the client has not received. */
  unsent(bytes: number): void {
    this.#secondsUnchanged = 0
    this.#hold(bytes, 'sending')
  }

  /** Called each second. `received`: bytes that wait to be read or are being processed. */
  measure({ unsentBytes: unsent, sentBytes: sent }: SendProgress, received: number, isProcessing: boolean): void {
    this.#secondsUnchanged = unsent > 0 && sent === this.#sent ? this.#secondsUnchanged + 1 : 0
    this.#sent = sent
    if (unsent === 0) this.#hold(received, isProcessing ? 'processing' : 'receiving')
    else this.#hold(unsent + received, this.#secondsUnchanged >= stalledSeconds ? 'stalled' : 'sending')
  }

  release(): void {
    this.#account?.release()
  }

  #hold(bytes: number, kind: HoldKind): void {
    if (this.#isShed || bytes < countedBytesMin) return this.release()
    this.#account ??= this.#budget.account(this.#connection, this.#shed)
    this.#account.hold(bytes, kind)
  }
}
