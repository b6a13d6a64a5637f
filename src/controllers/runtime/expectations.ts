// Expectations: a key is not planned again before the cache contains the writes of its last plan. Otherwise the plan
// would repeat them.
import { isBeingDeleted, keyOf, revisionOf, type ApiObject } from '../../api/meta/object.ts'
import type { Informer } from '../../client/informer/informer.ts'

interface Expectation {
  readonly informer: Informer
  readonly object: ApiObject
  readonly kind: 'written' | 'deleted'
}

export class Expectations {
  readonly #pending = new Map<string, Expectation[]>()

  expect(key: string, expectation: Expectation): void {
    if (isMet(expectation)) return
    const list = this.#pending.get(key) ?? []
    list.push(expectation)
    this.#pending.set(key, list)
  }

  /** Whether the caches contain everything that was written for the key. */
  areMet(key: string): boolean {
    const list = this.#pending.get(key)
    if (list === undefined) return true
    const open = list.filter((expectation) => !isMet(expectation))
    if (open.length > 0) this.#pending.set(key, open)
    else this.#pending.delete(key)
    return open.length === 0
  }

  forget(key: string): void {
    this.#pending.delete(key)
  }
}

function isMet({ informer, object, kind }: Expectation): boolean {
  if (informer.revision >= revisionOf(object) && kind === 'written') return true
  const cached = informer.get(keyOf(object))
  if (kind === 'written') return cached !== undefined && revisionOf(cached) >= revisionOf(object)
  return cached === undefined || cached.metadata.uid !== object.metadata.uid || isBeingDeleted(cached)
}
