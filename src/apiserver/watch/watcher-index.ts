// WatcherIndex: finds the watchers that a change may concern without asking all of them. A watcher stands in one place:
// under the one object, the one field value or the one namespace that it wants, or among those who want everything.
import type { Kind } from '../../api/kind.ts'
import { namespaceOf, type ApiObject } from '../../api/object.ts'
import type { Selection } from './selection.ts'

interface Placed {
  readonly selection: Selection
}

export class WatcherIndex<W extends Placed> {
  readonly #kind: Kind
  /** Where a watcher stands, and in which turn it came: changes are told in that order. */
  readonly #turns = new Map<W, { readonly place: string; readonly turn: number }>()
  readonly #places = new Map<string, Set<W>>()
  /** How many watchers are found by each field. */
  readonly #fields = new Map<string, number>()
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
    const { place, field } = placeOf(watcher.selection)
    this.#turns.set(watcher, { place, turn: this.#turn++ })
    const others = this.#places.get(place)
    if (others === undefined) this.#places.set(place, new Set([watcher]))
    else others.add(watcher)
    if (field !== undefined) this.#fields.set(field, (this.#fields.get(field) ?? 0) + 1)
  }

  delete(watcher: W): void {
    const known = this.#turns.get(watcher)
    if (known === undefined) return
    this.#turns.delete(watcher)
    const others = this.#places.get(known.place)
    others?.delete(watcher)
    if (others?.size === 0) this.#places.delete(known.place)
    const { field } = placeOf(watcher.selection)
    if (field === undefined) return
    const count = (this.#fields.get(field) ?? 0) - 1
    if (count > 0) this.#fields.set(field, count)
    else this.#fields.delete(field)
  }

  /** Those whom a change of this object, from one version to the next, may concern, in the order in which they came. */
  concernedBy(now: ApiObject | undefined, before: ApiObject | undefined): readonly W[] {
    const object = now ?? before
    if (this.#turns.size === 0 || object === undefined) return []
    const everywhere = this.#with([], '')
    // Of most kinds nobody stands anywhere else: then no names of places are made.
    if (everywhere.length === this.#turns.size) return everywhere
    const namespace = namespaceOf(object)
    const { name } = object.metadata
    let found = this.#with(everywhere, `namespace ${namespace}`)
    found = this.#with(found, `name ${namespace}/${name}`)
    if (namespace !== '') found = this.#with(found, `name /${name}`)
    for (const key of this.#fields.keys()) {
      const [value, valueBefore] = [this.#fieldOf(now, key), this.#fieldOf(before, key)]
      if (value !== undefined) found = this.#with(found, `field ${key}=${value}`)
      if (valueBefore !== undefined && valueBefore !== value) found = this.#with(found, `field ${key}=${valueBefore}`)
    }
    return found
  }

  #fieldOf(object: ApiObject | undefined, key: string): string | undefined {
    return object === undefined ? undefined : (this.#kind.fieldLabels[key]?.(object) ?? '')
  }

  /** Those found so far and those who stand in a place. Both are in order, and so is what comes of them. */
  #with(found: readonly W[], place: string): readonly W[] {
    const watchers = this.#places.get(place)
    if (watchers === undefined) return found
    if (found.length === 0) return [...watchers]
    const merged: W[] = []
    let next = 0
    for (const watcher of watchers) {
      const turn = this.#turnOf(watcher)
      for (let other = found[next]; other !== undefined && this.#turnOf(other) < turn; other = found[++next])
        merged.push(other)
      merged.push(watcher)
    }
    for (let other = found[next]; other !== undefined; other = found[++next]) merged.push(other)
    return merged
  }

  #turnOf(watcher: W): number {
    return this.#turns.get(watcher)?.turn ?? 0
  }
}

function placeOf(selection: Selection): { place: string; field?: string } {
  const { namespace, onlyName, onlyField } = selection
  if (onlyName !== undefined) return { place: `name ${namespace}/${onlyName}` }
  if (onlyField !== undefined) return { place: `field ${onlyField.key}=${onlyField.value}`, field: onlyField.key }
  return { place: namespace === '' ? '' : `namespace ${namespace}` }
}
