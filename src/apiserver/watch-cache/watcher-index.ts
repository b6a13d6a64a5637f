// WatcherIndex: finds the watchers that a change may concern without testing all of them. Each watcher is indexed once:
// by the one object, field value or namespace that it selects, or as unrestricted.
import { lookup } from '../../base/collections/lookup.ts'
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import type { Kind } from '../../api/kind/kind.ts'
import { namespaceOf, objectKey, type ApiObject } from '../../api/meta/object.ts'
import type { Selection } from './selection.ts'

interface HasSelection {
  readonly selection: Selection
}

/** In the order in which the watchers were added. */
type WatcherSet<W> = Set<W>

export class WatcherIndex<W extends HasSelection> {
  readonly #kind: Kind
  /** The order in which watchers were added. Changes are delivered in this order. */
  readonly #order = new Map<W, number>()
  readonly #unrestricted: WatcherSet<W> = new Set()
  readonly #namespaces = new Map<string, WatcherSet<W>>()
  /** By object key; by name alone for watchers of all namespaces. */
  readonly #names = new Map<string, WatcherSet<W>>()
  /** By field, then by value. */
  readonly #fields = new Map<string, Map<string, WatcherSet<W>>>()
  #turn = 0

  constructor(kind: Kind) {
    this.#kind = kind
  }

  get size(): number {
    return this.#order.size
  }

  [Symbol.iterator](): Iterator<W> {
    return this.#order.keys()
  }

  add(watcher: W): void {
    this.#order.set(watcher, this.#turn++)
    const { namespace, exactName, exactField } = watcher.selection
    const watchers =
      exactName !== undefined
        ? getOrInsert(this.#names, objectKey(namespace, exactName), newWatcherSet)
        : exactField !== undefined
          ? getOrInsert(getOrInsert(this.#fields, exactField.key, newWatcherSets), exactField.value, newWatcherSet)
          : namespace === ''
            ? this.#unrestricted
            : getOrInsert(this.#namespaces, namespace, newWatcherSet)
    watchers.add(watcher)
  }

  delete(watcher: W): void {
    if (!this.#order.delete(watcher)) return
    const { namespace, exactName, exactField } = watcher.selection
    if (exactName !== undefined) return leave(this.#names, objectKey(namespace, exactName), watcher)
    if (exactField !== undefined) {
      const places = this.#fields.get(exactField.key)
      if (places !== undefined) leave(places, exactField.value, watcher)
      if (places?.size === 0) this.#fields.delete(exactField.key)
    } else if (namespace === '') this.#unrestricted.delete(watcher)
    else leave(this.#namespaces, namespace, watcher)
  }

  /** How many watchers select this object by its name or namespace, or are unrestricted. */
  countOf(namespace: string, name: string): number {
    let count = this.#unrestricted.size
    if (count === this.#order.size) return count
    count += this.#namespaces.get(namespace)?.size ?? 0
    if (this.#names.size === 0 || name === '') return count
    count += this.#names.get(objectKey(namespace, name))?.size ?? 0
    return namespace === '' ? count : count + (this.#names.get(name)?.size ?? 0)
  }

  /** The watchers that a change of this object may concern, in the order in which they were added. */
  watchersFor(now: ApiObject | undefined, before: ApiObject | undefined): readonly W[] {
    const object = now ?? before
    if (this.#order.size === 0 || object === undefined) return noWatchers
    // Most kinds have unrestricted watchers only.
    if (this.#unrestricted.size === this.#order.size) return [...this.#unrestricted]
    let found: readonly W[] = [...this.#unrestricted]
    const namespace = namespaceOf(object)
    if (this.#namespaces.size > 0) found = this.#with(found, this.#namespaces.get(namespace))
    if (this.#names.size > 0) {
      const { name } = object.metadata
      found = this.#with(found, this.#names.get(objectKey(namespace, name)))
      if (namespace !== '') found = this.#with(found, this.#names.get(name))
    }
    for (const [key, byValue] of this.#fields) {
      const value = this.#fieldOf(now, key)
      const valueBefore = this.#fieldOf(before, key)
      if (value !== undefined) found = this.#with(found, byValue.get(value))
      if (valueBefore !== undefined && valueBefore !== value) found = this.#with(found, byValue.get(valueBefore))
    }
    return found
  }

  #fieldOf(object: ApiObject | undefined, key: string): string | undefined {
    return object === undefined ? undefined : (lookup(this.#kind.fieldLabels, key)?.(object) ?? '')
  }

  /** Merges two ordered lists of watchers. */
  #with(found: readonly W[], watchers: WatcherSet<W> | undefined): readonly W[] {
    if (watchers === undefined) return found
    if (found.length === 0) return [...watchers]
    const merged: W[] = []
    let next = 0
    for (const watcher of watchers) {
      const turn = this.#orderOf(watcher)
      for (let other = found[next]; other !== undefined && this.#orderOf(other) < turn; other = found[++next])
        merged.push(other)
      merged.push(watcher)
    }
    for (let other = found[next]; other !== undefined; other = found[++next]) merged.push(other)
    return merged
  }

  #orderOf(watcher: W): number {
    return this.#order.get(watcher) ?? 0
  }
}

const noWatchers: readonly never[] = []
const newWatcherSet = <W>(): WatcherSet<W> => new Set()
const newWatcherSets = <W>(): Map<string, WatcherSet<W>> => new Map()

function leave<W>(places: Map<string, WatcherSet<W>>, key: string, watcher: W): void {
  const watchers = places.get(key)
  watchers?.delete(watcher)
  if (watchers?.size === 0) places.delete(key)
}
