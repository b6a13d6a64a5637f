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

  /** Those whom a change of this object, from one version to the next, may concern. */
  concernedBy(now: ApiObject | undefined, before: ApiObject | undefined): readonly W[] {
    if (this.#turns.size === 0) return []
    const object = now ?? before
    if (object === undefined) return []
    const namespace = namespaceOf(object)
    const { name } = object.metadata
    const places = new Set(['', `namespace ${namespace}`, `name ${namespace}/${name}`, `name /${name}`])
    for (const key of this.#fields.keys())
      for (const version of [now, before])
        if (version !== undefined) places.add(`field ${key}=${this.#kind.fieldLabels[key]?.(version) ?? ''}`)
    const found: W[] = []
    let sources = 0
    for (const place of places) {
      const watchers = this.#places.get(place)
      if (watchers === undefined) continue
      sources++
      for (const watcher of watchers) found.push(watcher)
    }
    return sources < 2 ? found : found.toSorted((a, b) => this.#turnOf(a) - this.#turnOf(b))
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
