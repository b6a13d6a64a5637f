// Resolves the reference of a route to a port of a Service. Pure.
import type { Service } from '../../api/core/v1/service/service.ts'
import { namespaceOf, objectKey, type ObjectKey } from '../../api/meta/object.ts'
import { servicePort } from '../../ingress/backends/service-endpoints.ts'
import { protocolOf } from '../../ingress/ingress-api/compile-ingresses.ts'
import type { Backend } from '../../ingress/routing/route.ts'
import { unmet, type Outcome } from '../attachment/outcome.ts'
import { isPermitted } from '../attachment/reference-grants.ts'
import { gatewayGroup } from '../definitions/schema-parts.ts'
import type { ReferenceGrant } from '../kinds/gateway-kinds.ts'
import type { PortTls } from '../policies/backend-tls.ts'
import type { AnyRoute, BackendObjectReference } from '../kinds/route-kinds.ts'

export interface BackendSources {
  service(key: ObjectKey): Service | undefined
  grants(namespace: string): readonly ReferenceGrant[]
  /** The policy for TLS of a port, if there is one. */
  portTls(service: ObjectKey, portName: string): PortTls | undefined
}

export type ResolvedBackend =
  | { readonly kind: 'backend'; readonly backend: Backend }
  /** Without a problem if the policy of the port, whose status says why, is not valid. */
  | { readonly kind: 'invalid'; readonly problem: Outcome | undefined }

/** Protocols that need TLS to the endpoint. */
const securedProtocols = new Set(['https', 'kubernetes.io/wss', 'tls'])

export function resolveBackend(
  { kind: routeKind, object }: AnyRoute,
  reference: BackendObjectReference,
  sources: BackendSources,
): ResolvedBackend {
  const { group = '', kind = 'Service', name, port = 0 } = reference
  const home = namespaceOf(object)
  const namespace = reference.namespace ?? home
  const place = objectKey(namespace, name)
  const invalid = (reason: string, message: string): ResolvedBackend => ({
    kind: 'invalid',
    problem: unmet(reason, message),
  })
  if (group !== '' || kind !== 'Service') return invalid('InvalidKind', `${kind} ${place} is not a Service`)
  const from = { group: gatewayGroup, kind: routeKind, namespace: home }
  if (!isPermitted((each) => sources.grants(each), from, { group, kind, namespace, name }))
    return invalid('RefNotPermitted', `no ReferenceGrant in namespace ${namespace} permits the use of Service ${name}`)
  const service = sources.service(place)
  if (service === undefined) return invalid('BackendNotFound', `Service ${place} does not exist`)
  const found = servicePort(service, port)
  if (found === undefined) return invalid('BackendNotFound', `Service ${place} has no port ${port}`)
  if (routeKind === 'TLSRoute') return { kind: 'backend', backend: { namespace, service: name, port, protocol: 'tcp' } }
  const tls = sources.portTls(place, found.name)
  if (tls?.kind === 'invalid') return { kind: 'invalid', problem: undefined }
  if (tls === undefined && securedProtocols.has(found.appProtocol ?? ''))
    return invalid(
      'UnsupportedProtocol',
      `protocol ${found.appProtocol} of Service ${place} needs a BackendTLSPolicy, which says how endpoints are verified`,
    )
  // gRPC needs HTTP/2, also if the Service does not say so.
  const protocol = routeKind === 'GRPCRoute' ? 'h2c' : protocolOf(found.appProtocol)
  const backend = { namespace, service: name, port, protocol }
  return { kind: 'backend', backend: tls === undefined ? backend : { ...backend, tls: tls.identity } }
}
