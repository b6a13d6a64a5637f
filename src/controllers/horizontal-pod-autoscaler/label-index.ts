// LabelIndex: labelled objects of one namespace, found by an equality that a selector requires instead of by comparing the
// selector with each of them.
import { matchesLabels, type Labels, type Requirement, type Selector } from '../../api/selectors/selectors.ts'

export interface Labelled {
  readonly metadata: { readonly name: string; readonly labels?: Labels }
}

export class LabelIndex<T extends Labelled> {
  readonly #all = new Map<string, T>()
  readonly #byLabel = new Map<string, Map<string, T>>()

  constructor(objects: Iterable<T>) {
    for (const object of objects) this.set(object)
  }

  get size(): number {
    return this.#all.size
  }

  set(object: T): void {
    const { name, labels } = object.metadata
    const before = this.#all.get(name)
    if (before !== undefined && before.metadata.labels !== labels) this.delete(name)
    this.#all.set(name, object)
    for (const pair of pairsOf(labels)) {
      const listed = this.#byLabel.get(pair)
      if (listed === undefined) this.#byLabel.set(pair, new Map([[name, object]]))
      else listed.set(name, object)
    }
  }

  delete(name: string): void {
    const object = this.#all.get(name)
    if (object === undefined) return
    this.#all.delete(name)
    for (const pair of pairsOf(object.metadata.labels)) {
      const listed = this.#byLabel.get(pair)
      listed?.delete(name)
      if (listed?.size === 0) this.#byLabel.delete(pair)
    }
  }

  select(selector: Selector): T[] {
    let candidates: ReadonlyMap<string, T> = this.#all
    for (const requirement of selector) {
      if (!isEquality(requirement)) continue
      const listed = this.#byLabel.get(pairOf(requirement)) ?? none
      if (listed.size < candidates.size) candidates = listed
    }
    const found: T[] = []
    for (const object of candidates.values()) if (matchesLabels(selector, object.metadata.labels)) found.push(object)
    return found
  }
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
