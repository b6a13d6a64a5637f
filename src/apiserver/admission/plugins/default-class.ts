// Which class of a kind is the default: the newest of those that an annotation marks, then the first by name.
import { lookup } from '../../../base/collections/lookup.ts'
import type { ApiObject } from '../../../api/meta/object.ts'

export function defaultClassOf<T extends ApiObject>(classes: readonly T[], annotation: string): T | undefined {
  return classes
    .filter(({ metadata }) => lookup(metadata.annotations, annotation) === 'true')
    .toSorted((a, b) => newestFirst(a, b) || (a.metadata.name < b.metadata.name ? -1 : 1))[0]
}

const newestFirst = (a: ApiObject, b: ApiObject): number =>
  Date.parse(b.metadata.creationTimestamp ?? '') - Date.parse(a.metadata.creationTimestamp ?? '') || 0
