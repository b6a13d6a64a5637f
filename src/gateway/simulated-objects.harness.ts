// Objects of the Gateway API for tests. Their fields have the defaults of the schemas.
import type { Service } from '../api/core/v1/service/service.ts'
import type { ConfigMap } from '../api/core/v1/config-map.ts'
import type { Secret } from '../api/core/v1/secret.ts'
import type { ObjectMeta } from '../api/meta/v1/object-meta.ts'
import { KeyPairs } from '../ingress/ingress-api/key-pairs.ts'
import { runToEnd } from '../base/work/work-slice.ts'
import { planCaches, planGateways, type GatewayPlan, type PlanSources } from './plan-gateways.ts'
import type { Gateway, Listener, ListenerSet, ReferenceGrant } from './kinds/gateway-kinds.ts'
import type { BackendTlsPolicy } from './kinds/policy-kinds.ts'
import type { AnyRoute, GrpcRoute, HttpRoute } from './kinds/route-kinds.ts'

export const object = (name: string, namespace = 'default', more: Partial<ObjectMeta> = {}) => ({
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: '',
  metadata: {
    name,
    namespace,
    uid: name,
    resourceVersion: '1',
    generation: 1,
    creationTimestamp: '2030-01-01T00:00:00Z',
    ...more,
  },
})

export const listener = (name: string, more: Partial<Listener> = {}): Listener => ({
  name,
  port: 80,
  protocol: 'HTTP',
  allowedRoutes: { namespaces: { from: 'Same' } },
  ...more,
})

export const gatewayOf = (
  name: string,
  listeners: readonly Listener[],
  more: Partial<Gateway['spec']> = {},
  metadata: Partial<ObjectMeta> = {},
): Gateway => ({
  ...object(name, 'default', metadata),
  spec: { gatewayClassName: 'coxswain', listeners, ...more },
})

export const listenerSetOf = (
  name: string,
  listeners: readonly Listener[],
  namespace = 'default',
  metadata: Partial<ObjectMeta> = {},
): ListenerSet => ({
  ...object(name, namespace, metadata),
  spec: { parentRef: { name: 'gateway', namespace: 'default' }, listeners },
})

export const httpRouteOf = (
  name: string,
  spec: HttpRoute['spec'] = {},
  metadata: Partial<ObjectMeta> = {},
): AnyRoute => ({
  kind: 'HTTPRoute',
  object: {
    ...object(name, 'default', metadata),
    spec: { parentRefs: [{ name: 'gateway' }], rules: [{ backendRefs: [{ name: 'web', port: 80 }] }], ...spec },
  },
})

export const grpcRouteOf = (
  name: string,
  spec: GrpcRoute['spec'] = {},
  metadata: Partial<ObjectMeta> = {},
): AnyRoute => ({
  kind: 'GRPCRoute',
  object: { ...object(name, 'default', metadata), spec: { parentRefs: [{ name: 'gateway' }], rules: [{}], ...spec } },
})

export const serviceOf = (appProtocol?: string): Service =>
  ({ ...object('web'), spec: { ports: [{ port: 80, ...(appProtocol && { appProtocol }) }] } }) as unknown as Service

export const secretOf = (text: string): Secret => {
  const value = new TextEncoder().encode(text).toBase64()
  return { ...object('tls'), data: { 'tls.crt': value, 'tls.key': value } } as unknown as Secret
}

export const grantOf = (namespace: string, from: string, to: string): ReferenceGrant => ({
  ...object('grant', namespace),
  spec: {
    from: [{ group: 'gateway.networking.k8s.io', kind: from, namespace: 'default' }],
    to: [{ group: '', kind: to }],
  },
})

export interface Known {
  /** By key. */
  readonly services?: Readonly<Record<string, Service>>
  readonly secrets?: Readonly<Record<string, Secret>>
  readonly configMaps?: Readonly<Record<string, ConfigMap>>
  readonly grants?: readonly ReferenceGrant[]
  /** Labels of namespaces. */
  readonly namespaces?: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly otherPorts?: PlanSources['otherPorts']
  readonly listenerSets?: PlanSources['listenerSets']
}

export function sourcesOf(known: Known = {}): PlanSources {
  const { services = { 'default/web': serviceOf() }, secrets = {}, grants = [], namespaces = {} } = known
  const byService = new Map(Object.entries(services))
  const bySecret = new Map(Object.entries(secrets))
  const byConfigMap = new Map(Object.entries(known.configMaps ?? {}))
  const labels = new Map(Object.entries(namespaces))
  return {
    addresses: ['192.0.2.1'],
    otherPorts: known.otherPorts ?? new Map(),
    listenerSets: known.listenerSets ?? new Map(),
    boundPort: (port) => port,
    configMap: (key) => byConfigMap.get(key),
    isCertificates: (text) => text.startsWith('certificate'),
    keyPair: (secret) => new KeyPairs((certificate) => certificate !== 'broken').of(secret),
    service: (key) => byService.get(key),
    secret: (key) => bySecret.get(key),
    grants: (namespace) => grants.filter(({ metadata }) => metadata.namespace === namespace),
    namespaceLabels: (name) => labels.get(name),
  }
}

export const planned = (
  gateways: readonly Gateway[],
  routes: readonly AnyRoute[],
  sources: PlanSources,
  policies: readonly BackendTlsPolicy[] = [],
): GatewayPlan => runToEnd((slice) => planGateways(gateways, routes, policies, sources, planCaches(), slice))
