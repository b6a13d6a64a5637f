// PathIndex: the routes of one host. The route of a request is found by its path: the time depends on the elements of the
// path, not on the number of routes. Only routes with the same path, and those with patterns, are compared one by one.
// Exact paths come first, then patterns, the longer ones first, then prefixes; a method of gRPC comes before the prefix of all paths.
import type { Route, RoutedRequest, ValueMatch } from './route.ts'
import { PatternBudget } from './text-pattern.ts'

/** The place of a route: the list in which it is, by the kind of its path and its key. */
interface PathKey {
  readonly kind: 'exact' | 'method' | 'prefix'
  readonly value: string
}

export class PathIndex {
  /** By path, each in the order of precedence. */
  readonly #exact = new Map<string, Route[]>()
  readonly #prefixes = new Map<string, Route[]>()
  readonly #methods = new Map<string, Route[]>()
  /** In the order of precedence. */
  #patterns: readonly Route[] = []
  /** How many entries `#prefixes` has, by the length of the prefix. */
  readonly #prefixLengths = new Map<number, number>()

  get isEmpty(): boolean {
    return this.#exact.size + this.#prefixes.size + this.#methods.size + this.#patterns.length === 0
  }

  add(routes: readonly Route[]): void {
    const extended = new Map<Route[], PathKey>()
    const patterns = routes.filter(isPattern)
    if (patterns.length > 0) this.#patterns = [...this.#patterns, ...patterns].toSorted(comparePatterns)
    for (const route of routes) {
      const path = pathKey(route)
      if (path === undefined) continue
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
    if (routes.some(isPattern)) this.#patterns = this.#patterns.filter((each) => !removed.has(each))
    for (const route of routes) {
      const path = pathKey(route)
      if (path === undefined) continue
      const { kind, value } = path
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
    const patterned = firstMatch(this.#patterns, candidate)
    if (patterned !== undefined) return patterned
    for (let end = path.length; end >= 0; end = end === 0 ? -1 : path.lastIndexOf('/', end - 1)) {
      const called = end === 0 ? firstMatch(this.#methods.get(methodOf(path)), candidate) : undefined
      if (called !== undefined) return called
      if (!this.#prefixLengths.has(end)) continue
      const found = firstMatch(this.#prefixes.get(path.slice(0, end)), candidate)
      if (found !== undefined) return found
    }
    return undefined
  }

  #mapOf(kind: PathKey['kind']): Map<string, Route[]> {
    switch (kind) {
      case 'exact':
        return this.#exact
      case 'method':
        return this.#methods
      case 'prefix':
        return this.#prefixes
      default:
        return kind satisfies never
    }
  }

  #countLength(length: number, by: 1 | -1): void {
    const count = (this.#prefixLengths.get(length) ?? 0) + by
    if (count > 0) this.#prefixLengths.set(length, count)
    else this.#prefixLengths.delete(length)
  }
}

const isPattern = ({ match }: Route): boolean => match.path.kind === 'pattern'

/** Undefined for patterns. A trailing slash of a prefix is ignored, so a prefix ends before a slash of the path or with the path. */
function pathKey({ match: { path } }: Route): PathKey | undefined {
  if (path.kind === 'pattern') return undefined
  return path.kind === 'prefix' && path.value.endsWith('/') ? { kind: 'prefix', value: path.value.slice(0, -1) } : path
}

/** Of `/service/method`: `method`. Empty, which is no method, for other paths. */
function methodOf(path: string): string {
  const slash = path.indexOf('/', 1)
  return slash > 1 && path.indexOf('/', slash + 1) < 0 ? path.slice(slash + 1) : ''
}

const patternLength = ({ match: { path } }: Route): number => (path.kind === 'pattern' ? path.pattern.source.length : 0)

const comparePatterns = (a: Route, b: Route): number => patternLength(b) - patternLength(a) || comparePrecedence(a, b)

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

interface Candidate extends Pick<RoutedRequest, 'method' | 'header' | 'path'> {
  readonly parameters: () => URLSearchParams
  /** For all routes of the request. */
  readonly budget: PatternBudget
}

/** The query is parsed at most once, however many routes have parameters. */
function candidateOf({ method, header, path, query }: RoutedRequest): Candidate {
  let parsed: URLSearchParams | undefined
  const parameters = () => (parsed ??= new URLSearchParams(query))
  return { method, header, path, parameters, budget: new PatternBudget() }
}

function firstMatch(routes: readonly Route[] | undefined, candidate: Candidate): Route | undefined {
  if (routes === undefined) return undefined
  for (const route of routes) if (isMatch(route, candidate)) return route
  return undefined
}

/** Patterns are compared last, because they cost most. */
function isMatch({ match }: Route, candidate: Candidate): boolean {
  const { method, header, path, parameters, budget } = candidate
  if (match.method !== undefined && match.method !== method) return false
  const has = (wanted: ValueMatch['value'], found: string | null | undefined): boolean =>
    typeof wanted === 'string'
      ? found === wanted
      : found !== null && found !== undefined && wanted.matches(found, budget)
  for (const { name, value } of match.headers) if (!has(value, header(name))) return false
  for (const { name, value } of match.query) if (!has(value, parameters().get(name))) return false
  return match.path.kind !== 'pattern' || match.path.pattern.matches(path, budget)
}
