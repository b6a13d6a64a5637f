// CompiledRoutes: routes that were compiled, for as long as neither they nor the objects that they refer to have changed.
// A change of one object therefore does not compile all routes again.
import type { Service } from '../../api/core/v1/service/service.ts'
import type { ApiObject, ObjectKey } from '../../api/meta/object.ts'
import type { ReferenceGrant } from '../kinds/gateway-kinds.ts'
import type { AnyRoute } from '../kinds/route-kinds.ts'
import type { PortTls } from '../policies/backend-tls.ts'
import { compileRoute, type CompiledRoute } from './compile-route.ts'
import type { BackendSources } from './resolve-backend.ts'

interface KnownRoute {
  readonly compiled: CompiledRoute
  /** What it refers to. */
  readonly services: ReadonlyMap<ObjectKey, Service | undefined>
  readonly grants: ReadonlyMap<string, readonly ReferenceGrant[]>
  readonly ports: readonly KnownPort[]
}

interface KnownPort {
  readonly service: ObjectKey
  readonly name: string
  readonly tls: PortTls | undefined
}

export class CompiledRoutes {
  readonly #known = new WeakMap<ApiObject, KnownRoute>()

  of(route: AnyRoute, sources: BackendSources): CompiledRoute {
    const known = this.#known.get(route.object)
    if (known !== undefined && isCurrent(known, sources)) return known.compiled
    const services = new Map<ObjectKey, Service | undefined>()
    const grants = new Map<string, readonly ReferenceGrant[]>()
    const ports: KnownPort[] = []
    const compiled = compileRoute(route, {
      service: (key) => remembered(services, key, sources.service(key)),
      grants: (namespace) => remembered(grants, namespace, sources.grants(namespace)),
      portTls: (service, name) => {
        const tls = sources.portTls(service, name)
        ports.push({ service, name, tls })
        return tls
      },
    })
    this.#known.set(route.object, { compiled, services, grants, ports })
    return compiled
  }
}

function remembered<Value>(map: Map<string, Value>, key: string, value: Value): Value {
  map.set(key, value)
  return value
}

function isCurrent({ services, grants, ports }: KnownRoute, sources: BackendSources): boolean {
  for (const [key, service] of services) if (sources.service(key) !== service) return false
  for (const [namespace, before] of grants) if (!isSameList(before, sources.grants(namespace))) return false
  return ports.every(({ service, name, tls }) => sources.portTls(service, name) === tls)
}

const isSameList = (a: readonly unknown[], b: readonly unknown[]): boolean =>
  a.length === b.length && a.every((each, index) => each === b[index])
