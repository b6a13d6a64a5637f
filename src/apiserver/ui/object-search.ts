// objectSearch: the objects whose names contain the words of a text. A user finds what the user may list: in the whole cluster, or
// in the namespaces for which that is allowed.
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import type { Clock } from '../../base/time/clock.ts'
import { WorkSlice } from '../../base/work/work-slice.ts'
import { qualifiedResource, type Kind } from '../../api/kind/kind.ts'
import { namespaceOf, type ApiObject } from '../../api/meta/object.ts'

export interface SearchedObjects {
  /** All versions of all kinds; the first version of each is searched. */
  readonly kinds: readonly Kind[]
  /** The objects of a kind in a namespace, or of all if it is empty. */
  readonly list: (kind: Kind, namespace: string) => readonly ApiObject[]
  /** Whether the user may list the kind in a namespace, or in all if it is empty. */
  readonly mayList: (kind: Kind, namespace: string) => Promise<boolean>
  readonly clock: Clock
}

export interface ObjectQuery {
  readonly text: string
  /** Empty for all. */
  readonly namespace: string
}

export interface FoundObject {
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly kind: string
  readonly namespace: string
  readonly name: string
}

export interface FoundObjects {
  /** The best matches first. */
  readonly objects: readonly FoundObject[]
  /** Whether there are more. */
  readonly isTruncated: boolean
}

export const foundMax = 50
/** Matches are ranked whenever there are as many. */
const rankedMax = 1_000
/** The slice of time is checked after as many objects. */
const stepObjects = 500

export async function objectSearch(
  { text, namespace }: ObjectQuery,
  { kinds, list, mayList, clock }: SearchedObjects,
  signal: AbortSignal,
): Promise<FoundObjects> {
  const words = text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
  const matches = new BestMatches(words.join(' '))
  const slice = new WorkSlice(clock)
  for (const kind of searchedKinds(kinds)) {
    if (namespace !== '' && !kind.namespaced) continue
    const allowed = new Map<string, Promise<boolean>>()
    const isVisible = async (scope: string): Promise<boolean> =>
      (await getOrInsert(allowed, namespace, () => mayList(kind, namespace))) ||
      (kind.namespaced && (await getOrInsert(allowed, scope, () => mayList(kind, scope))))
    for (const [at, object] of list(kind, namespace).entries()) {
      if (at % stepObjects === 0 && slice.isUsedUp()) {
        await slice.next()
        signal.throwIfAborted()
      }
      if (isMatch(kind, object, words) && (await isVisible(namespaceOf(object)))) matches.add(kind, object)
    }
  }
  return matches.best()
}

/** One version of each kind. Names of Events mean nothing to users. */
const searchedKinds = (kinds: readonly Kind[]): Kind[] => {
  const first = new Map<string, Kind>()
  for (const kind of kinds)
    if (kind.computed === undefined && kind.plural !== 'events') getOrInsert(first, qualifiedResource(kind), () => kind)
  return [...first.values()]
}

/** A word may also be that of the kind, so that `pod web` finds pods. */
function isMatch({ plural, singular }: Kind, { metadata: { name } }: ApiObject, words: readonly string[]): boolean {
  const inName = (word: string): boolean => name.toLowerCase().includes(word)
  return words.some(inName) && words.every((word) => inName(word) || word === singular || word === plural)
}

interface Match {
  readonly kind: Kind
  readonly object: ApiObject
}

class BestMatches {
  readonly #text: string
  #matches: Match[] = []
  #isTruncated = false

  constructor(text: string) {
    this.#text = text
  }

  add(kind: Kind, object: ApiObject): void {
    this.#matches.push({ kind, object })
    if (this.#matches.length >= rankedMax) this.#keepBest()
  }

  best(): FoundObjects {
    this.#keepBest()
    const objects = this.#matches.map(({ kind: { group, version, plural, kind }, object }) => {
      const { name } = object.metadata
      return { group, version, resource: plural, kind, namespace: namespaceOf(object), name }
    })
    return { objects, isTruncated: this.#isTruncated }
  }

  #keepBest(): void {
    this.#matches.sort((a, b) => this.#rank(a) - this.#rank(b) || byLength(a, b))
    this.#isTruncated ||= this.#matches.length > foundMax
    this.#matches = this.#matches.slice(0, foundMax)
  }

  /** Equal names come first, then names that begin with the text. */
  #rank({ object: { metadata } }: Match): number {
    if (metadata.name === this.#text) return 0
    return metadata.name.startsWith(this.#text) ? 1 : 2
  }
}

/** Names of generated objects are longer than those of the objects that own them. */
const byLength = (a: Match, b: Match): number =>
  a.object.metadata.name.length - b.object.metadata.name.length ||
  (a.object.metadata.name < b.object.metadata.name ? -1 : 1)
