// SelectorLimit: each change is compared with the selectors of all watches, so the long ones of one owner are limited.
// Controllers and nodes have short ones.
import { StatusError } from '../../api/errors/status-error.ts'

const longSelectorCharsMin = 128
export const longSelectorsCharsMax = 256 << 10

/** The owner of a watch has too many long selectors. */
export class SelectorsTooLong extends StatusError {
  constructor() {
    super(429, 'TooManyRequests', 'the selectors of the watches of this user are too long', { retryAfterSeconds: 1 })
  }
}

export class SelectorLimit {
  /** The characters of long selectors, by the owner of their watches. */
  readonly #chars = new Map<string, number>()

  /**
   * Counts the selectors of one watch until the returned function is called. Throws where the owner has too many long ones
   * already. Without an owner there is no limit.
   */
  reserve(owner: string | undefined, chars: number): () => void {
    if (owner === undefined || chars < longSelectorCharsMin) return () => {}
    this.#add(owner, chars)
    return () => this.#add(owner, -chars)
  }

  #add(owner: string, chars: number): void {
    const next = (this.#chars.get(owner) ?? 0) + chars
    if (next > longSelectorsCharsMax) throw new SelectorsTooLong()
    if (next === 0) this.#chars.delete(owner)
    else this.#chars.set(owner, next)
  }
}
