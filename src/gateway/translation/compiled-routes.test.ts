import { equal, notEqual } from 'node:assert/strict'
import { test } from 'node:test'
import type { Service } from '../../api/core/v1/service/service.ts'
import type { ReferenceGrant } from '../kinds/gateway-kinds.ts'
import { grantOf, httpRouteOf, serviceOf } from '../simulated-objects.harness.ts'
import { CompiledRoutes } from './compiled-routes.ts'

test('a route is compiled again when an object that it refers to has changed, and only then', () => {
  const services = new Map<string, Service>([['default/web', serviceOf()]])
  const grants = new Map<string, readonly ReferenceGrant[]>()
  const sources = {
    service: (key: string) => services.get(key),
    grants: (namespace: string) => [...(grants.get(namespace) ?? [])],
    portTls: () => undefined,
  }
  const routes = new CompiledRoutes()
  const backendRefs = [
    { name: 'web', port: 80 },
    { name: 'web', port: 80, namespace: 'other' },
  ]
  const route = httpRouteOf('r', { rules: [{ backendRefs }] })
  const first = routes.of(route, sources)
  equal(first.resolvedRefs.reason, 'RefNotPermitted')
  services.set('default/unrelated', serviceOf())
  grants.set('unrelated', [grantOf('unrelated', 'HTTPRoute', 'Service')])
  equal(routes.of(route, sources), first)
  grants.set('other', [grantOf('other', 'HTTPRoute', 'Service')])
  const second = routes.of(route, sources)
  equal(second.resolvedRefs.reason, 'BackendNotFound')
  services.set('other/web', serviceOf())
  const third = routes.of(route, sources)
  equal(third.resolvedRefs.reason, 'ResolvedRefs')
  equal(routes.of(route, sources), third)
  services.set('default/web', serviceOf())
  notEqual(routes.of(route, sources), third)
})
