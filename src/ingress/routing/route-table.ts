// RouteTable: selects the route of a request. The most specific host is selected first; routes of other hosts do not serve
// the request then, as with virtual servers. Its routes are tried in the order of precedence of the Gateway API, which is
// that of Ingress too: exact paths, longer prefixes, methods, more headers, more query parameters, older objects. The routes
// of one object for one host are replaced at once, at a cost that depends on that object.
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import { runToEnd, type Slice, type Sliced } from '../../base/work/work-slice.ts'
import { HostIndex, hostKey } from './host-index.ts'
import { PathIndex } from './path-index.ts'
import type { Route, RoutedRequest, RouteHost } from './route.ts'

/** Selects the route of a request. */
export interface RouteFinder {
  find(request: RoutedRequest): Route | undefined
}

export class RouteTable implements RouteFinder {
  readonly #hosts = new HostIndex<PathIndex>()
  readonly #byOwner = new Map<string, RoutesByHost>()

  constructor(routes: readonly Route[] = []) {
    this.replace('', routes)
  }

  /** `owner` is the object that the routes belong to. No request sees only a part of the change. */
  replace(owner: string, routes: readonly Route[]): void {
    runToEnd((slice) => this.replaceInSlices(owner, routes, slice))
  }

  /** As `replace`, host by host: a request sees all of the change of its host, or nothing of it. */
  *replaceInSlices(owner: string, routes: readonly Route[], slice: Slice): Sliced<void> {
    const before = this.#byOwner.get(owner) ?? noHosts
    const now = byHost(routes)
    if (now.size > 0) this.#byOwner.set(owner, now)
    else this.#byOwner.delete(owner)
    for (const [key, { host, routes: removed }] of before) {
      this.#replaceHost(host, removed, now.get(key)?.routes ?? [])
      if (slice.isUsedUp()) yield
    }
    for (const [key, { host, routes: added }] of now) {
      if (before.has(key)) continue
      this.#replaceHost(host, [], added)
      if (slice.isUsedUp()) yield
    }
  }

  #replaceHost(host: RouteHost, removed: readonly Route[], added: readonly Route[]): void {
    const index = this.#hosts.get(host) ?? new PathIndex()
    index.remove(removed)
    index.add(added)
    if (index.isEmpty) this.#hosts.delete(host)
    else this.#hosts.set(host, index)
  }

  find(request: RoutedRequest): Route | undefined {
    return this.#hosts.find(request.host)?.find(request)
  }
}

interface HostRoutes {
  readonly host: RouteHost
  readonly routes: readonly Route[]
}

type RoutesByHost = ReadonlyMap<string, HostRoutes>

const noHosts: RoutesByHost = new Map()

function byHost(routes: readonly Route[]): RoutesByHost {
  const groups = new Map<string, HostRoutes & { readonly routes: Route[] }>()
  for (const route of routes)
    getOrInsert(groups, hostKey(route.host), () => ({ host: route.host, routes: [] })).routes.push(route)
  return groups
}
