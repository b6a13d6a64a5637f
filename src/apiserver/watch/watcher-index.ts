// WatcherIndex: finds the watchers that a change may concern without asking all of them. A watcher stands in one place:
// under the one object, the one field value or the one namespace that it wants, or among those who want everything.
import { lookup } from '../../base/lookup.ts'
import { getOrMake } from '../../base/get-or-make.ts'
import type { Kind } from '../../api/kind.ts'
import { namespaceOf, objectKey, type ApiObject } from '../../api/object.ts'
import type { Selection } from './selection.ts'

interface Placed {
  readonly selection: Selection
}

/** Who stands there, in the order in which they came. */
type Place<W> = Set<W>

export class WatcherIndex<W extends Placed> {
  readonly #kind: Kind
  /** In which turn each came: changes are told in that order. */
  readonly #turns = new Map<W, number>()
  readonly #everywhere: Place<W> = new Set()
  readonly #namespaces = new Map<string, Place<W>>()
  /** By key; under a name alone those who want it in all namespaces. */
  readonly #names = new Map<string, Place<W>>()
  /** By field, then by value. */
  readonly #fields = new Map<string, Map<string, Place<W>>>()
  #turn = 0

  constructor(kind: Kind) {
    this.#kind = kind
  }

  get size(): number {
    return this.#turns.size
  }

  [Symbol.iterator](): Iterator<W> {
    return this.#turns.keys()
  }

  add(watcher: W): void {
    this.#turns.set(watcher, this.#turn++)
    const { namespace, onlyName, onlyField } = watcher.selection
    const place =
      onlyName !== undefined
        ? getOrMake(this.#names, objectKey(namespace, onlyName), newPlace)
        : onlyField !== undefined
          ? getOrMake(getOrMake(this.#fields, onlyField.key, newPlaces), onlyField.value, newPlace)
          : namespace === ''
            ? this.#everywhere
            : getOrMake(this.#namespaces, namespace, newPlace)
    place.add(watcher)
  }

  delete(watcher: W): void {
    if (!this.#turns.delete(watcher)) return
    const { namespace, onlyName, onlyField } = watcher.selection
    if (onlyName !== undefined) return leave(this.#names, objectKey(namespace, onlyName), watcher)
    if (onlyField !== undefined) {
      const places = this.#fields.get(onlyField.key)
      if (places !== undefined) leave(places, onlyField.value, watcher)
      if (places?.size === 0) this.#fields.delete(onlyField.key)
    } else if (namespace === '') this.#everywhere.delete(watcher)
    else leave(this.#namespaces, namespace, watcher)
  }

  /** Those whom a change of this object, from one version to the next, may concern, in the order in which they came. */
  concernedBy(now: ApiObject | undefined, before: ApiObject | undefined): readonly W[] {
    const object = now ?? before
    if (this.#turns.size === 0 || object === undefined) return nobody
    // Of most kinds nobody stands anywhere else.
    if (this.#everywhere.size === this.#turns.size) return [...this.#everywhere]
    let found: readonly W[] = [...this.#everywhere]
    const namespace = namespaceOf(object)
    if (this.#namespaces.size > 0) found = this.#with(found, this.#namespaces.get(namespace))
    if (this.#names.size > 0) {
      const { name } = object.metadata
      found = this.#with(found, this.#names.get(objectKey(namespace, name)))
      if (namespace !== '') found = this.#with(found, this.#names.get(name))
    }
    for (const [key, byValue] of this.#fields) {
      const [value, valueBefore] = [this.#fieldOf(now, key), this.#fieldOf(before, key)]
      if (value !== undefined) found = this.#with(found, byValue.get(value))
      if (valueBefore !== undefined && valueBefore !== value) found = this.#with(found, byValue.get(valueBefore))
    }
    return found
  }

  #fieldOf(object: ApiObject | undefined, key: string): string | undefined {
    return object === undefined ? undefined : (lookup(this.#kind.fieldLabels, key)?.(object) ?? '')
  }

  /** Those found so far and those who stand in a place. Both are in order, and so is what comes of them. */
  #with(found: readonly W[], place: Place<W> | undefined): readonly W[] {
    if (place === undefined) return found
    if (found.length === 0) return [...place]
    const merged: W[] = []
    let next = 0
    for (const watcher of place) {
      const turn = this.#turnOf(watcher)
      for (let other = found[next]; other !== undefined && this.#turnOf(other) < turn; other = found[++next])
        merged.push(other)
      merged.push(watcher)
    }
    for (let other = found[next]; other !== undefined; other = found[++next]) merged.push(other)
    return merged
  }

  #turnOf(watcher: W): number {
    return this.#turns.get(watcher) ?? 0
  }
}

const nobody: readonly never[] = []
const newPlace = <W>(): Place<W> => new Set()
const newPlaces = <W>(): Map<string, Place<W>> => new Map()

function leave<W>(places: Map<string, Place<W>>, key: string, watcher: W): void {
  const place = places.get(key)
  place?.delete(watcher)
  if (place?.size === 0) places.delete(key)
}
