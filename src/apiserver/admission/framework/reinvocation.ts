// Reinvocation: what the second round of a request's mutating admission must do over.
import type { ApiObject } from '../../../api/meta/object.ts'
import { equalValues } from '../../../schema/json/json-value.ts'

export class ReinvocationContext {
  #round = 0
  #isNeeded = false
  /** Webhooks that saw the object before its last change and want to look again, and those that will. */
  #asked: Set<string> | undefined
  #again: Set<string> | undefined
  #output: ApiObject | undefined

  get round(): number {
    return this.#round
  }

  /** Begins the next round if there must be one; there is at most one more. */
  startNextRound(): boolean {
    if (!this.#isNeeded || this.#round > 0) return false
    this.#round++
    return true
  }

  /** The webhooks begin; in the second round they look again at what the plugins changed since. */
  beginWebhooks(object: ApiObject | undefined): void {
    if (this.#round > 0 && !equalValues(object, this.#output)) this.#askAgain()
  }

  shouldInvoke(webhook: string): boolean {
    return this.#round === 0 || this.#again?.has(webhook) === true
  }

  markReinvocable(webhook: string): void {
    this.#asked = (this.#asked ?? new Set()).add(webhook)
  }

  /** A webhook changed the object. */
  objectChanged(): void {
    this.#isNeeded = true
    this.#askAgain()
  }

  endWebhooks(object: ApiObject | undefined): void {
    this.#output = object
  }

  #askAgain(): void {
    this.#again = new Set([...(this.#again ?? []), ...(this.#asked ?? [])])
    this.#asked = undefined
  }
}
