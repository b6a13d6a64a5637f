// RouteTable: selects the route of a request. The most specific host is selected first; routes of other hosts do not serve
// the request then, as with virtual servers. Its routes are tried in the order of precedence of the Gateway API, which is
// that of Ingress too: exact paths, longer prefixes, methods, more headers, more query parameters, older objects.
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import { HostIndex, hostKey } from './host-index.ts'
import type { PathMatch, Route, RouteHost } from './route.ts'

export interface RoutedRequest {
  readonly method: string
  /** Without the port, in lower case. */
  readonly host: string
  readonly path: string
  /** Without the question mark. */
  readonly query: string
  readonly header: (name: string) => string | undefined
}

/** Selects the route of a request. */
export interface RouteFinder {
  find(request: RoutedRequest): Route | undefined
}

export class RouteTable implements RouteFinder {
  /** The routes of each host, in the order of precedence. */
  readonly #hosts: HostIndex<readonly Route[]>

  constructor(routes: readonly Route[]) {
    const byHost = new Map<string, { readonly host: RouteHost; readonly routes: Route[] }>()
    for (const route of routes)
      getOrInsert(byHost, hostKey(route.host), () => ({ host: route.host, routes: [] })).routes.push(route)
    this.#hosts = new HostIndex(
      Array.from(byHost.values(), ({ host, routes: own }) => [host, own.toSorted(comparePrecedence)] as const),
    )
  }

  find(request: RoutedRequest): Route | undefined {
    for (const route of this.#hosts.find(request.host) ?? noRoutes) if (isMatch(route, request)) return route
    return undefined
  }
}

const noRoutes: readonly Route[] = []

/** Negative if `a` is tried first. */
export function comparePrecedence(a: Route, b: Route): number {
  const [x, y] = [a.match, b.match]
  return (
    Number(y.path.kind === 'exact') - Number(x.path.kind === 'exact') ||
    prefixOf(y.path).length - prefixOf(x.path).length ||
    Number(y.method !== undefined) - Number(x.method !== undefined) ||
    y.headers.length - x.headers.length ||
    y.query.length - x.query.length ||
    (a.order < b.order ? -1 : Number(a.order > b.order))
  )
}

function isMatch({ match }: Route, { method, path, query, header }: RoutedRequest): boolean {
  if (!matchesPath(match.path, path)) return false
  if (match.method !== undefined && match.method !== method) return false
  for (const { name, value } of match.headers) if (header(name) !== value) return false
  if (match.query.length === 0) return true
  const parameters = new URLSearchParams(query)
  return match.query.every(({ name, value }) => parameters.get(name) === value)
}

/** A trailing slash of a prefix is ignored. */
const prefixOf = ({ kind, value }: PathMatch): string =>
  kind === 'prefix' && value.endsWith('/') ? value.slice(0, -1) : value

export function matchesPath(match: PathMatch, path: string): boolean {
  if (match.kind === 'exact') return path === match.value
  const prefix = prefixOf(match)
  return path.startsWith(prefix) && (path.length === prefix.length || path.charCodeAt(prefix.length) === slash)
}

const slash = 0x2f
