// PathIndex: the routes of one host. The route of a request is found by its path: the time depends on the elements of the path,
// not on the number of routes. Only routes with the same path are compared one by one.
import type { PathMatch, Route, RoutedRequest } from './route.ts'

export class PathIndex {
  /** By path, each in the order of precedence. */
  readonly #exact = new Map<string, readonly Route[]>()
  readonly #prefixes = new Map<string, readonly Route[]>()
  /** How many entries `#prefixes` has, by the length of the prefix. */
  readonly #prefixLengths = new Map<number, number>()

  get isEmpty(): boolean {
    return this.#exact.size + this.#prefixes.size === 0
  }

  add(routes: readonly Route[]): void {
    for (const [{ kind, value }, added] of byPath(routes)) {
      const map = this.#mapOf(kind)
      const known = map.get(value)
      if (known === undefined && kind === 'prefix') this.#countLength(value.length, 1)
      map.set(value, known === undefined && added.length === 1 ? added : [...(known ?? []), ...added].sort(comparePrecedence))
    }
  }

  remove(routes: readonly Route[]): void {
    const removed = new Set(routes)
    for (const [{ kind, value }] of byPath(routes)) {
      const map = this.#mapOf(kind)
      const left = (map.get(value) ?? noRoutes).filter((route) => !removed.has(route))
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

  #mapOf(kind: PathMatch['kind']): Map<string, readonly Route[]> {
    return kind === 'exact' ? this.#exact : this.#prefixes
  }

  #countLength(length: number, by: 1 | -1): void {
    const count = (this.#prefixLengths.get(length) ?? 0) + by
    if (count > 0) this.#prefixLengths.set(length, count)
    else this.#prefixLengths.delete(length)
  }
}

const noRoutes: readonly Route[] = []

/** A trailing slash of a prefix is ignored, so a prefix ends before a slash of the path or with the path. */
const indexedPath = ({ kind, value }: PathMatch): string =>
  kind === 'prefix' && value.endsWith('/') ? value.slice(0, -1) : value

function byPath(routes: readonly Route[]): Iterable<readonly [PathMatch, readonly Route[]]> {
  const groups = new Map<string, readonly [PathMatch, Route[]]>()
  for (const route of routes) {
    const { kind } = route.match.path
    const value = indexedPath(route.match.path)
    const key = `${kind} ${value}`
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [{ kind, value }, [route]])
    else group[1].push(route)
  }
  return groups.values()
}

/** Negative if `a` is tried first. Both have the same path. */
function comparePrecedence(a: Route, b: Route): number {
  const [x, y] = [a.match, b.match]
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
