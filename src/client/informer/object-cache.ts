// ObjectCache: the objects of an informer by key, with indexes that are updated with every change.
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import type { ApiObject, ObjectKey } from '../../api/meta/object.ts'

/** The values under which an index lists an object. */
export type IndexFunction<T> = (object: T) => readonly string[]

interface Index<T> {
  readonly valuesOf: IndexFunction<T>
  readonly objects: Map<string, Map<ObjectKey, T>>
}

export class ObjectCache<T extends ApiObject> {
  readonly #objects = new Map<ObjectKey, T>()
  readonly #indexes = new Map<string, Index<T>>()

  get size(): number {
    return this.#objects.size
  }

  get(key: ObjectKey): T | undefined {
    return this.#objects.get(key)
  }

  entries(): IterableIterator<[ObjectKey, T]> {
    return this.#objects.entries()
  }

  values(): IterableIterator<T> {
    return this.#objects.values()
  }

  /** Does nothing where an index of that name exists. */
  addIndex(name: string, valuesOf: IndexFunction<T>): void {
    if (this.#indexes.has(name)) return
    const index: Index<T> = { valuesOf, objects: new Map() }
    this.#indexes.set(name, index)
    for (const [key, object] of this.#objects) updateIndex(index, key, undefined, object)
  }

  byIndex(name: string, value: string): T[] {
    const found = this.#indexes.get(name)?.objects.get(value)
    return found === undefined ? [] : [...found.values()]
  }

  /** Stores the object, or removes it where `now` is undefined; returns the object that it replaces. */
  replace(key: ObjectKey, now: T | undefined): T | undefined {
    const before = this.#objects.get(key)
    if (now === undefined) this.#objects.delete(key)
    else this.#objects.set(key, now)
    for (const index of this.#indexes.values()) updateIndex(index, key, before, now)
    return before
  }
}

function updateIndex<T>(
  { valuesOf, objects }: Index<T>,
  key: ObjectKey,
  before: T | undefined,
  now: T | undefined,
): void {
  const left = before === undefined ? none : valuesOf(before)
  const found = now === undefined ? none : valuesOf(now)
  // An object may have thousands of values, such as owners.
  const kept = left.length * found.length > comparisonsMax ? new Set(found) : undefined
  for (const value of left) {
    // Most changes leave the indexed values as they are; the object is then only replaced, below.
    if (kept === undefined ? found.includes(value) : kept.has(value)) continue
    const listed = objects.get(value)
    listed?.delete(key)
    if (listed?.size === 0) objects.delete(value)
  }
  if (now !== undefined) for (const value of found) getOrInsert(objects, value, newMap<T>).set(key, now)
}

/** With more comparisons than this, making a set of the values is faster. */
const comparisonsMax = 64
const none: readonly string[] = []
const newMap = <T>(): Map<ObjectKey, T> => new Map()
