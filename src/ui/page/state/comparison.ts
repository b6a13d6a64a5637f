// The objects of a kind at two moments: which of them were added, removed and changed in between.
import { rowKey } from '../model/table-model.ts'
import { RequestError } from '../source/requests.ts'
import type { ClusterObject, Resource, Source } from '../source/source.ts'

export interface ComparedObject {
  readonly before: ClusterObject | undefined
  readonly after: ClusterObject | undefined
}

export interface ComparisonDeps {
  readonly source: Pick<Source, 'list'>
  readonly changed: () => void
}

export class Comparison {
  /** Undefined while they are read. */
  objects: readonly ComparedObject[] | undefined
  failure: string | undefined
  readonly #deps: ComparisonDeps
  #key = ''

  constructor(deps: ComparisonDeps) {
    this.#deps = deps
  }

  /** Called whenever the comparison is drawn; `to` is undefined for the present, which is read once. */
  follow(resource: Resource, namespace: string, from: number, to: number | undefined): void {
    const key = JSON.stringify([resource.group, resource.plural, namespace, from, to])
    if (key === this.#key) return
    this.#key = key
    this.objects = undefined
    this.failure = undefined
    const at = (revision: number | undefined) => this.#deps.source.list(resource, { namespace, revision })
    void Promise.all([at(from), at(to)]).then(
      ([before, after]) => this.#show(key, { objects: differing(before, after) }),
      (error: Error) => this.#show(key, { failure: textOf(error) }),
    )
  }

  /** Reads both again. */
  again(): void {
    this.#key = ''
    this.#deps.changed()
  }

  #show(key: string, result: Partial<Pick<Comparison, 'objects' | 'failure'>>): void {
    if (key !== this.#key) return
    Object.assign(this, result)
    this.#deps.changed()
  }
}

const textOf = (error: Error): string =>
  error instanceof RequestError && error.code === 410
    ? 'The earlier moment is no longer retained. Choose a later one.'
    : error.message

/** Objects that are not the same at both moments, by namespace and name. An object of the same name that replaced another one has changed. */
export function differing(
  before: readonly ClusterObject[],
  after: readonly ClusterObject[],
): readonly ComparedObject[] {
  const earlier = new Map(before.map((object) => [rowKey(object), object]))
  const later = new Map(after.map((object) => [rowKey(object), object]))
  return [...new Set([...earlier.keys(), ...later.keys()])].toSorted().flatMap((key) => {
    const [one, other] = [earlier.get(key), later.get(key)]
    return one !== undefined && other !== undefined && isSame(one, other) ? [] : [{ before: one, after: other }]
  })
}

const isSame = (a: ClusterObject, b: ClusterObject): boolean =>
  a === b || (a.metadata.resourceVersion !== undefined && a.metadata.resourceVersion === b.metadata.resourceVersion)
