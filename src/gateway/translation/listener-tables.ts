// ListenerTables: the routes of listeners as tables, for as long as the routes at a listener are the same.
import type { Route } from '../../ingress/routing/route.ts'
import { routeHostOf } from '../../ingress/routing/route.ts'
import { RouteTable } from '../../ingress/routing/route-table.ts'
import type { Listener } from '../kinds/gateway-kinds.ts'
import type { RouteTemplate } from './compile-route.ts'

/** A route at a listener. */
export interface AttachedRoute {
  readonly hostnames: readonly string[]
  readonly templates: readonly RouteTemplate[]
}

interface KnownTable {
  readonly routes: readonly AttachedRoute[]
  readonly table: RouteTable
}

export class ListenerTables {
  readonly #known = new WeakMap<Listener, KnownTable>()

  of(listener: Listener, routes: readonly AttachedRoute[]): RouteTable {
    const known = this.#known.get(listener)
    if (known !== undefined && areSame(known.routes, routes)) return known.table
    const table = new RouteTable(
      routes.flatMap(({ hostnames, templates }) =>
        hostnames.flatMap((name) => templates.map((each): Route => ({ ...each, host: routeHostOf(name, 'any') }))),
      ),
    )
    this.#known.set(listener, { routes, table })
    return table
  }
}

const areSame = (a: readonly AttachedRoute[], b: readonly AttachedRoute[]): boolean =>
  a.length === b.length &&
  a.every(({ hostnames, templates }, index) => {
    const other = b[index]
    return templates === other?.templates && hostnames.join(' ') === other.hostnames.join(' ')
  })
