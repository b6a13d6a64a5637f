// The default class of a kind: the newest class with the annotation, and of equally new ones the first by name.
import { lookup } from '../../../base/collections/lookup.ts'
import type { ApiObject } from '../../../api/meta/object.ts'

export function defaultClassOf<T extends ApiObject>(classes: readonly T[], annotation: string): T | undefined {
  return classes
    .filter(({ metadata }) => lookup(metadata.annotations, annotation) === 'true')
    .toSorted((a, b) => newestFirst(a, b) || (a.metadata.name < b.metadata.name ? -1 : 1))[0]
}

const newestFirst = (a: ApiObject, b: ApiObject): number =>
  Date.parse(b.metadata.creationTimestamp ?? '') - Date.parse(a.metadata.creationTimestamp ?? '') || 0
