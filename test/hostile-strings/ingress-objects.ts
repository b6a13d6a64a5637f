// Valid objects that the proxy of Ingresses and Gateways reads. Names, hosts and addresses follow from a number.
import { ingressClass } from '../../src/api/networking/v1/ingress-class.ts'
import { ingress } from '../../src/api/networking/v1/ingress.ts'
import { configMap } from '../../src/api/core/v1/config-map.ts'
import { secret } from '../../src/api/core/v1/secret.ts'
import { ownGatewayClass } from '../../src/gateway/gateway-class.ts'
import { stored } from './base-objects.ts'
import type { BaseObject } from './variants.ts'

export const hostOf = (index: number): string => `h${index}.example.com`
const pair = new TextEncoder().encode('pair').toBase64()

export const tlsOf: BaseObject = (index) =>
  stored(secret, `tls-${index}`, index, { type: 'kubernetes.io/tls', data: { 'tls.crt': pair, 'tls.key': pair } })

export const ingressClassOf: BaseObject = (index) =>
  stored(ingressClass, index === 0 ? 'coxswain' : `class-${index}`, index, {
    spec: {
      controller: 'coxswain.dev/ingress',
      parameters: { apiGroup: 'g', kind: 'K', name: 'n', namespace: 'default', scope: 'Namespace' },
    },
  })

const toService = (name: string) => ({ service: { name, port: { number: 80 } } })

export const ingressOf: BaseObject = (index) =>
  stored(ingress, `ingress-${index}`, index, {
    spec: {
      ingressClassName: 'coxswain',
      defaultBackend: toService(`web-${index}`),
      tls: [{ hosts: [hostOf(index)], secretName: `tls-${index}` }],
      rules: [
        {
          host: hostOf(index),
          http: {
            paths: [
              { path: '/in', pathType: 'Prefix', backend: toService(`web-${index}`) },
              {
                path: '/exact',
                pathType: 'Exact',
                backend: { service: { name: `web-${index}`, port: { name: 'http' } } },
              },
              { path: '/resource', pathType: 'Prefix', backend: { resource: { apiGroup: 'g', kind: 'K', name: 'n' } } },
            ],
          },
        },
      ],
    },
    status: { loadBalancer: { ingress: [{ ip: '192.0.2.1', hostname: 'h', ports: [{ port: 1, protocol: 'TCP' }] }] } },
  })

const gatewayObject = (kind: string, name: string, index: number, rest: object): object => ({
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind,
  metadata: {
    name,
    namespace: 'default',
    uid: `uid-${index}`,
    resourceVersion: '1',
    generation: 1,
    creationTimestamp: '2030-01-01T00:00:00Z',
    labels: { app: 'web' },
    annotations: { note: 'x' },
  },
  ...rest,
})

export const gatewayClassOf: BaseObject = (index) => {
  const { metadata, ...others } = gatewayObject('GatewayClass', index === 0 ? 'coxswain' : `class-${index}`, index, {
    spec: { ...ownGatewayClass.spec, description: 'x' },
  }) as { readonly metadata: { readonly namespace: string } }
  const { namespace: _none, ...named } = metadata
  return { ...others, metadata: named }
}

export const gatewayOf: BaseObject = (index) =>
  gatewayObject('Gateway', index === 0 ? 'gateway' : `gateway-${index}`, index, {
    spec: {
      gatewayClassName: 'coxswain',
      addresses: [],
      allowedListeners: { namespaces: { from: 'All' } },
      listeners: [
        {
          name: 'http',
          port: 80,
          protocol: 'HTTP',
          hostname: index === 0 ? undefined : `*.g${index}.example.com`,
          allowedRoutes: {
            namespaces: { from: 'All' },
            kinds: [{ group: 'gateway.networking.k8s.io', kind: 'HTTPRoute' }],
          },
        },
        {
          name: 'https',
          port: 443,
          protocol: 'HTTPS',
          hostname: index === 0 ? undefined : `*.g${index}.example.com`,
          tls: { mode: 'Terminate', certificateRefs: [{ group: '', kind: 'Secret', name: `tls-${index}` }] },
          allowedRoutes: { namespaces: { from: 'Selector', selector: { matchLabels: { team: 'a' } } } },
        },
      ].map(({ hostname, ...listener }) => (hostname === undefined ? listener : { ...listener, hostname })),
    },
  })

export const listenerSetOf: BaseObject = (index) =>
  gatewayObject('ListenerSet', `set-${index}`, index, {
    spec: {
      parentRef: { group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'gateway', namespace: 'default' },
      listeners: [
        {
          name: 'https',
          port: 443,
          protocol: 'HTTPS',
          hostname: `*.s${index}.example.com`,
          tls: { mode: 'Terminate', certificateRefs: [{ group: '', kind: 'Secret', name: `tls-${index}` }] },
          allowedRoutes: {
            namespaces: { from: 'Selector', selector: { matchLabels: { team: 'a' } } },
            kinds: [{ group: 'gateway.networking.k8s.io', kind: 'HTTPRoute' }],
          },
        },
      ],
    },
  })

const headerModifier = {
  set: [{ name: 'x-set', value: 'a' }],
  add: [{ name: 'x-add', value: 'a' }],
  remove: ['x-remove'],
}
const filters = (index: number) => [
  { type: 'RequestHeaderModifier', requestHeaderModifier: headerModifier },
  { type: 'ResponseHeaderModifier', responseHeaderModifier: headerModifier },
  {
    type: 'URLRewrite',
    urlRewrite: { hostname: 'out.example.com', path: { type: 'ReplacePrefixMatch', replacePrefixMatch: '/out' } },
  },
  { type: 'RequestMirror', requestMirror: { backendRef: { name: `web-${index}`, port: 80 } } },
]
const parentRefs = [{ group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'gateway' }]
const backendRefs = (index: number) => [{ group: '', kind: 'Service', name: `web-${index}`, port: 80, weight: 1 }]
const redirect = (path: object) => [
  {
    type: 'RequestRedirect',
    requestRedirect: { scheme: 'https', hostname: 'to.example.com', path, port: 8443, statusCode: 301 },
  },
]

export const httpRouteOf: BaseObject = (index) =>
  gatewayObject('HTTPRoute', `route-${index}`, index, {
    spec: {
      parentRefs,
      hostnames: [hostOf(index)],
      rules: [
        {
          name: 'forward',
          matches: [
            {
              path: { type: 'PathPrefix', value: '/in' },
              headers: [{ type: 'Exact', name: 'x-a', value: '1' }],
              queryParams: [{ type: 'Exact', name: 'q', value: '1' }],
              method: 'GET',
            },
          ],
          filters: filters(index),
          backendRefs: backendRefs(index),
          timeouts: { request: '10s', backendRequest: '5s' },
        },
        {
          matches: [{ path: { type: 'PathPrefix', value: '/redirect' } }],
          filters: redirect({ type: 'ReplacePrefixMatch', replacePrefixMatch: '/there' }),
        },
        {
          matches: [{ path: { type: 'PathPrefix', value: '/full' } }],
          filters: redirect({ type: 'ReplaceFullPath', replaceFullPath: '/all' }),
        },
      ],
    },
  })

export const grpcRouteOf: BaseObject = (index) =>
  gatewayObject('GRPCRoute', `grpc-${index}`, index, {
    spec: {
      parentRefs,
      hostnames: [hostOf(index)],
      rules: [
        {
          matches: [
            {
              method: { type: 'Exact', service: 'in', method: 'x' },
              headers: [{ type: 'Exact', name: 'x-a', value: '1' }],
            },
          ],
          filters: filters(index).slice(0, 2),
          backendRefs: backendRefs(index),
        },
      ],
    },
  })

export const tlsRouteOf: BaseObject = (index) =>
  gatewayObject('TLSRoute', `tls-${index}`, index, {
    spec: { parentRefs, hostnames: [hostOf(index)], rules: [{ name: 'forward', backendRefs: backendRefs(index) }] },
  })

export const backendTlsPolicyOf: BaseObject = (index) =>
  gatewayObject('BackendTLSPolicy', `policy-${index}`, index, {
    spec: {
      targetRefs: [{ group: '', kind: 'Service', name: `web-${index}`, sectionName: 'http' }],
      validation: {
        caCertificateRefs: [{ group: '', kind: 'ConfigMap', name: `authority-${index}` }],
        hostname: 'in.example.com',
        subjectAltNames: [
          { type: 'Hostname', hostname: 'in.example.com' },
          { type: 'URI', uri: 'spiffe://in.example.com/x' },
        ],
      },
      options: { 'example.com/a': 'b' },
    },
  })

export const authorityOf = (index: number): object =>
  stored(configMap, `authority-${index}`, index, { data: { 'ca.crt': 'certificate' } })

export const referenceGrantOf: BaseObject = (index) =>
  gatewayObject('ReferenceGrant', `grant-${index}`, index, {
    spec: {
      from: [{ group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', namespace: 'default' }],
      to: [{ group: '', kind: 'Service', name: `web-${index}` }],
    },
  })
