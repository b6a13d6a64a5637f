// ReinvocationContext: which webhooks and policies are called again in the second round of mutating admission.
import type { ApiObject } from '../../../api/meta/object.ts'
import { equalValues } from '../../../schema/json/json-value.ts'

export class ReinvocationContext {
  #round = 0
  #isNeeded = false
  /** Reinvocable webhooks that were called before the last change of the object, and those that are called again. */
  #called: Set<string> | undefined
  #again: Set<string> | undefined
  #output: ApiObject | undefined

  get round(): number {
    return this.#round
  }

  /** Begins the second round if it is needed; there is no third. */
  startNextRound(): boolean {
    if (!this.#isNeeded || this.#round > 0) return false
    this.#round++
    return true
  }

  /** Called before the webhooks. In the second round they are called again if plugins changed the object in between. */
  beginWebhooks(object: ApiObject | undefined): void {
    if (this.#round > 0 && !equalValues(object, this.#output)) this.#callAgain()
  }

  shouldInvoke(webhook: string): boolean {
    return this.#round === 0 || this.#again?.has(webhook) === true
  }

  markReinvocable(webhook: string): void {
    this.#called = (this.#called ?? new Set()).add(webhook)
  }

  /** Called when a webhook or policy changed the object. */
  objectChanged(): void {
    this.#isNeeded = true
    this.#callAgain()
  }

  endWebhooks(object: ApiObject | undefined): void {
    this.#output = object
  }

  #callAgain(): void {
    this.#again = new Set([...(this.#again ?? []), ...(this.#called ?? [])])
    this.#called = undefined
  }
}
