// Informers whose objects a test sets.
import { noCause } from '../base/observability/flow-recorder.ts'
import { getOrInsert } from '../base/collections/get-or-insert.ts'
import type { Kind, ResourceType } from '../api/kind/kind.ts'
import { keyOf, type ApiObject } from '../api/meta/object.ts'
import { ObjectCache } from '../client/informer/object-cache.ts'
import type { Informer, ObjectChange } from '../client/informer/informer.ts'
import type { Informers } from '../client/informer/informers.ts'

class SimulatedInformer extends ObjectCache<ApiObject> {
  readonly synced = Promise.resolve()
  readonly #handlers: ((change: ObjectChange<ApiObject>) => void)[] = []

  all() {
    return this.values()
  }

  onChange(handler: (change: ObjectChange<ApiObject>) => void): void {
    this.#handlers.push(handler)
    for (const [key, now] of this.entries()) handler({ key, now, before: undefined, cause: noCause })
  }

  change(key: string, now: ApiObject | undefined): void {
    const before = this.replace(key, now)
    for (const handler of this.#handlers) handler({ key, now, before, cause: noCause })
  }
}

export class SimulatedInformers implements Pick<Informers, 'of' | 'metadataOf'> {
  readonly #informers = new Map<string, SimulatedInformer>()

  of<T extends ApiObject, Input>(kind: ResourceType<T, Input>): Informer<T> {
    return this.#of(kind.plural) as unknown as Informer<T>
  }

  metadataOf(kind: Kind): Informer {
    return this.of(kind)
  }

  set(plural: string, object: object): void {
    this.#of(plural).change(keyOf(object as ApiObject), object as ApiObject)
  }

  remove(plural: string, key: string): void {
    this.#of(plural).change(key, undefined)
  }

  #of(plural: string): SimulatedInformer {
    return getOrInsert(this.#informers, plural, () => new SimulatedInformer())
  }
}
