// RouteTable: selects the route of a request. The most specific host is selected first; routes of other hosts do not serve
// the request then, as with virtual servers. Its routes are tried in the order of precedence of the Gateway API, which is
// that of Ingress too: exact paths, longer prefixes, methods, more headers, more query parameters, older objects.
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
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

interface VirtualHost {
  /** In the order of precedence. */
  readonly routes: readonly Route[]
}

export class RouteTable {
  readonly #exact = new Map<string, VirtualHost>()
  /** By suffix. */
  readonly #oneLabel = new Map<string, VirtualHost>()
  readonly #anyLabels = new Map<string, VirtualHost>()
  readonly #any: VirtualHost

  /** `hosts` are served even if they have no routes, so that less specific hosts do not serve them. */
  constructor(routes: readonly Route[], hosts: readonly RouteHost[] = []) {
    const byHost = new Map<string, { readonly host: RouteHost; readonly routes: Route[] }>()
    const entryOf = (host: RouteHost) => getOrInsert(byHost, hostKey(host), () => ({ host, routes: [] }))
    for (const host of hosts) entryOf(host)
    for (const route of routes) entryOf(route.host).routes.push(route)
    let any: VirtualHost = { routes: [] }
    for (const { host, routes: own } of byHost.values()) {
      const virtualHost = { routes: own.toSorted(comparePrecedence) }
      if (host.kind === 'any') any = virtualHost
      else if (host.kind === 'exact') this.#exact.set(host.name, virtualHost)
      else if (host.labels === 'one') this.#oneLabel.set(host.suffix, virtualHost)
      else this.#anyLabels.set(host.suffix, virtualHost)
    }
    this.#any = any
  }

  find(request: RoutedRequest): Route | undefined {
    for (const route of this.#virtualHost(request.host).routes) if (isMatch(route, request)) return route
    return undefined
  }

  #virtualHost(host: string): VirtualHost {
    const exact = this.#exact.get(host)
    if (exact !== undefined) return exact
    if (this.#oneLabel.size + this.#anyLabels.size === 0) return this.#any
    let dot = host.indexOf('.')
    const suffix = host.slice(dot + 1)
    const oneLabel = dot > 0 ? this.#oneLabel.get(suffix) : undefined
    // With equal suffixes the wildcard for one label is more specific.
    if (oneLabel !== undefined) return oneLabel
    for (; dot > 0; dot = host.indexOf('.', dot + 1)) {
      const found = this.#anyLabels.get(host.slice(dot + 1))
      if (found !== undefined) return found
    }
    return this.#any
  }
}

const hostKey = (host: RouteHost): string =>
  host.kind === 'any' ? '*' : host.kind === 'exact' ? host.name : `*${host.labels === 'one' ? '' : '*'}.${host.suffix}`

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
