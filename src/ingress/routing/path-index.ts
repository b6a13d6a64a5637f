// PathIndex: the routes of one host. The route of a request is found by its path: the time depends on the elements of the
// path, not on the number of routes. Only routes with the same path are compared one by one.
import type { PathMatch, Route, RoutedRequest } from './route.ts'

export class PathIndex {
  /** By path, each in the order of precedence. */
  readonly #exact = new Map<string, Route[]>()
  readonly #prefixes = new Map<string, Route[]>()
  /** How many entries `#prefixes` has, by the length of the prefix. */
  readonly #prefixLengths = new Map<number, number>()

  get isEmpty(): boolean {
    return this.#exact.size + this.#prefixes.size === 0
  }

  add(routes: readonly Route[]): void {
    const extended = new Map<Route[], PathMatch>()
    for (const route of routes) {
      const path = indexedPath(route.match.path)
      const map = this.#mapOf(path.kind)
      const known = map.get(path.value)
      if (known === undefined) {
        map.set(path.value, [route])
        if (path.kind === 'prefix') this.#countLength(path.value.length, 1)
      } else {
        known.push(route)
        extended.set(known, path)
      }
    }
    for (const [list, { kind, value }] of extended) this.#mapOf(kind).set(value, list.toSorted(comparePrecedence))
  }

  remove(routes: readonly Route[]): void {
    const removed = new Set(routes)
    /** Lists without removed routes, so that each is filtered once. */
    const filtered = new Set<readonly Route[]>()
    for (const route of routes) {
      const { kind, value } = indexedPath(route.match.path)
      const map = this.#mapOf(kind)
      const list = map.get(value)
      if (list === undefined || filtered.has(list)) continue
      const left = list.filter((each) => !removed.has(each))
      filtered.add(left)
      if (left.length > 0) map.set(value, left)
      else if (map.delete(value) && kind === 'prefix') this.#countLength(value.length, -1)
    }
  }

  find(request: RoutedRequest): Route | undefined {
    const { path } = request
    const candidate = candidateOf(request)
    const exact = firstMatch(this.#exact.get(path), candidate)
    if (exact !== undefined) return exact
    for (let end = path.length; end >= 0; end = end === 0 ? -1 : path.lastIndexOf('/', end - 1)) {
      if (!this.#prefixLengths.has(end)) continue
      const found = firstMatch(this.#prefixes.get(path.slice(0, end)), candidate)
      if (found !== undefined) return found
    }
    return undefined
  }

  #mapOf(kind: PathMatch['kind']): Map<string, Route[]> {
    return kind === 'exact' ? this.#exact : this.#prefixes
  }

  #countLength(length: number, by: 1 | -1): void {
    const count = (this.#prefixLengths.get(length) ?? 0) + by
    if (count > 0) this.#prefixLengths.set(length, count)
    else this.#prefixLengths.delete(length)
  }
}

/** A trailing slash of a prefix is ignored, so a prefix ends before a slash of the path or with the path. */
const indexedPath = (path: PathMatch): PathMatch =>
  path.kind === 'prefix' && path.value.endsWith('/') ? { kind: 'prefix', value: path.value.slice(0, -1) } : path

/** Negative if `a` is tried first. Both have the same path. */
function comparePrecedence(a: Route, b: Route): number {
  const x = a.match
  const y = b.match
  return (
    Number(y.method !== undefined) - Number(x.method !== undefined) ||
    y.headers.length - x.headers.length ||
    y.query.length - x.query.length ||
    (a.order < b.order ? -1 : Number(a.order > b.order))
  )
}

interface Candidate extends Pick<RoutedRequest, 'method' | 'header'> {
  readonly parameters: () => URLSearchParams
}

/** The query is parsed at most once, however many routes have parameters. */
function candidateOf({ method, header, query }: RoutedRequest): Candidate {
  let parsed: URLSearchParams | undefined
  return { method, header, parameters: () => (parsed ??= new URLSearchParams(query)) }
}

function firstMatch(routes: readonly Route[] | undefined, candidate: Candidate): Route | undefined {
  if (routes === undefined) return undefined
  for (const route of routes) if (isMatch(route, candidate)) return route
  return undefined
}

function isMatch({ match }: Route, { method, header, parameters }: Candidate): boolean {
  if (match.method !== undefined && match.method !== method) return false
  for (const { name, value } of match.headers) if (header(name) !== value) return false
  for (const { name, value } of match.query) if (parameters().get(name) !== value) return false
  return true
}
