// RouteTable: selects the route of a request. The most specific host is selected first; routes of other hosts do not serve
// the request then, as with virtual servers. Its routes are tried in the order of precedence of the Gateway API, which is
// that of Ingress too: exact paths, longer prefixes, methods, more headers, more query parameters, older objects. The routes
// of one object are replaced at once, at a cost that depends on that object.
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import { HostIndex, hostKey } from './host-index.ts'
import { PathIndex } from './path-index.ts'
import type { Route, RoutedRequest, RouteHost } from './route.ts'

/** Selects the route of a request. */
export interface RouteFinder {
  find(request: RoutedRequest): Route | undefined
}

export class RouteTable implements RouteFinder {
  readonly #hosts = new HostIndex<PathIndex>()
  readonly #byOwner = new Map<string, readonly Route[]>()

  constructor(routes: readonly Route[] = []) {
    this.replace('', routes)
  }

  /** `owner` is the object that the routes belong to. No request sees only a part of the change. */
  replace(owner: string, routes: readonly Route[]): void {
    for (const [host, removed] of byHost(this.#byOwner.get(owner) ?? [])) {
      const index = this.#hosts.get(host)
      index?.remove(removed)
      if (index?.isEmpty === true) this.#hosts.delete(host)
    }
    for (const [host, added] of byHost(routes)) {
      const index = this.#hosts.get(host) ?? new PathIndex()
      index.add(added)
      this.#hosts.set(host, index)
    }
    if (routes.length > 0) this.#byOwner.set(owner, routes)
    else this.#byOwner.delete(owner)
  }

  find(request: RoutedRequest): Route | undefined {
    return this.#hosts.find(request.host)?.find(request)
  }
}

function byHost(routes: readonly Route[]): Iterable<readonly [RouteHost, readonly Route[]]> {
  const groups = new Map<string, readonly [RouteHost, Route[]]>()
  const groupOf = ({ host }: Route): readonly [RouteHost, Route[]] => [host, []]
  for (const route of routes) getOrInsert(groups, hostKey(route.host), () => groupOf(route))[1].push(route)
  return groups.values()
}
