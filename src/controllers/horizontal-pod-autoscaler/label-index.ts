// LabelIndex: labelled objects of one namespace, found by an equality that a selector requires instead of by comparing the
// selector with each of them.
import { lookup } from '../../base/collections/lookup.ts'
import { matchesLabels, type Labels, type Requirement, type Selector } from '../../api/selectors/selectors.ts'

export interface Labelled {
  readonly metadata: { readonly name: string; readonly labels?: Labels }
}

export class LabelIndex<T extends Labelled> {
  readonly #all = new Map<string, T>()
  /** By label key, value and name. A key is indexed when a selector first requires a value of it. */
  readonly #byKey = new Map<string, Map<string, Map<string, T>>>()

  constructor(objects: Iterable<T>) {
    for (const object of objects) this.#all.set(object.metadata.name, object)
  }

  get size(): number {
    return this.#all.size
  }

  set(object: T): void {
    const { name, labels } = object.metadata
    const before = this.#all.get(name)
    if (before !== undefined && before.metadata.labels !== labels) this.delete(name)
    this.#all.set(name, object)
    for (const [key, byValue] of this.#byKey) insert(byValue, lookup(labels, key), object)
  }

  delete(name: string): void {
    const labels = this.#all.get(name)?.metadata.labels
    this.#all.delete(name)
    for (const [key, byValue] of this.#byKey) {
      const value = lookup(labels, key)
      const listed = value === undefined ? undefined : byValue.get(value)
      listed?.delete(name)
      if (value !== undefined && listed?.size === 0) byValue.delete(value)
    }
  }

  select(selector: Selector): T[] {
    let candidates: ReadonlyMap<string, T> = this.#all
    for (const requirement of selector) {
      if (!isEquality(requirement)) continue
      const listed = this.#valuesOf(requirement.key).get(requirement.values[0] ?? '') ?? none
      if (listed.size < candidates.size) candidates = listed
    }
    const found: T[] = []
    for (const object of candidates.values()) if (matchesLabels(selector, object.metadata.labels)) found.push(object)
    return found
  }

  #valuesOf(key: string): ReadonlyMap<string, ReadonlyMap<string, T>> {
    const known = this.#byKey.get(key)
    if (known !== undefined) return known
    const byValue = new Map<string, Map<string, T>>()
    for (const object of this.#all.values()) insert(byValue, lookup(object.metadata.labels, key), object)
    this.#byKey.set(key, byValue)
    return byValue
  }
}

function insert<T extends Labelled>(byValue: Map<string, Map<string, T>>, value: string | undefined, object: T): void {
  if (value === undefined) return
  const listed = byValue.get(value)
  if (listed === undefined) byValue.set(value, new Map([[object.metadata.name, object]]))
  else listed.set(object.metadata.name, object)
}

const none: ReadonlyMap<string, never> = new Map<string, never>()

/** A label is one text, `key=value`. */
export const pairsOf = (labels: Labels | undefined): readonly string[] =>
  labels === undefined ? [] : Object.entries(labels).map(([key, value]) => `${key}=${value}`)

/** A label that all objects have which the selector matches, if it requires one. */
export function requiredPair(selector: Selector): string | undefined {
  const equality = selector.find(isEquality)
  return equality === undefined ? undefined : pairOf(equality)
}

const isEquality = ({ operator, values }: Requirement): boolean => operator === 'In' && values.length === 1
const pairOf = ({ key, values }: Requirement): string => `${key}=${values[0] ?? ''}`
