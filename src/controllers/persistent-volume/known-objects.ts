// KnownObjects: the latest version of each object, from the informer or from a write of this controller, whichever is newer.
// A decision after a write must not use an older version of the object than the one that was written.
import { keyOf, revisionOf, type ApiObject, type ObjectKey } from '../../api/meta/object.ts'

export class KnownObjects<T extends ApiObject> {
  readonly #objects = new Map<ObjectKey, T>()
  readonly #onReplace: (before: T | undefined, now: T | undefined) => void

  constructor(onReplace: (before: T | undefined, now: T | undefined) => void) {
    this.#onReplace = onReplace
  }

  get(key: ObjectKey): T | undefined {
    return this.#objects.get(key)
  }

  /** A change that the informer reports. Returns false if it is not new: the informer reports a write of this controller. */
  observe(key: ObjectKey, now: T | undefined): boolean {
    const before = this.#objects.get(key)
    if (now === undefined) this.#objects.delete(key)
    else if (before !== undefined && before.metadata.uid === now.metadata.uid && revisionOf(before) >= revisionOf(now))
      return false
    else this.#objects.set(key, now)
    this.#onReplace(before, now)
    return true
  }

  /** The result of a write. It is ignored if the informer has reported the deletion in the meantime. */
  wrote(object: T): void {
    const before = this.#objects.get(keyOf(object))
    if (before?.metadata.uid === object.metadata.uid) this.observe(keyOf(object), object)
  }
}
