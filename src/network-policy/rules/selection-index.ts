// SelectionIndex: finds those of many selections that may select a pod. A selection is stored under one label that it
// requires, so that a lookup depends on the labels of the pod and not on the number of selections.
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import type { Selector } from '../../api/selectors/selectors.ts'
import type { PodSelection } from './compiled-policy.ts'
import type { PodFacts } from './pod-facts.ts'

const anyNamespace = '*'

export class SelectionIndex<T> {
  readonly #places = new Map<string, Set<T>>()

  add(selection: PodSelection, value: T): void {
    for (const place of placesOf(selection)) getOrInsert(this.#places, place, () => new Set<T>()).add(value)
  }

  remove(selection: PodSelection, value: T): void {
    for (const place of placesOf(selection)) {
      const values = this.#places.get(place)
      values?.delete(value)
      if (values?.size === 0) this.#places.delete(place)
    }
  }

  /** The candidates; the caller checks whether they select the pod. */
  candidates({ namespace, labels }: Pick<PodFacts, 'namespace' | 'labels'>): ReadonlySet<T> {
    const found = new Set<T>()
    for (const name of [namespace, anyNamespace])
      for (const label of ['', ...Object.entries(labels).map(([key, value]) => `${key}=${value}`)])
        for (const value of this.#places.get(`${name} ${label}`) ?? []) found.add(value)
    return found
  }
}

function placesOf({ namespaces, pods }: PodSelection): readonly string[] {
  const name = 'name' in namespaces ? namespaces.name : anyNamespace
  return requiredLabels(pods).map((label) => `${name} ${label}`)
}

/** A pod has one of these labels if it is selected; an empty text stands for any pod. */
function requiredLabels(selector: Selector): readonly string[] {
  const required = selector.find(({ operator }) => operator === 'In')
  return required === undefined ? [''] : [...new Set(required.values)].map((value) => `${required.key}=${value}`)
}
