// Why a Gateway does not serve requests, and why a route is not attached: one situation per row.
import { deepEqual } from 'node:assert/strict'
import { suite, test } from 'node:test'
import { customResource } from '../../../api/apiextensions/resource-type/custom-resource.ts'
import type { ResourceType } from '../../../api/kind/kind.ts'
import type { ApiObject } from '../../../api/meta/object.ts'
import type { ClusterReader } from '../explainer/cluster-reader.ts'
import type { Finding } from '../explainer/finding.ts'
import { gatewayExplainer, grpcRouteExplainer, httpRouteExplainer, tlsRouteExplainer } from './gateway-explainer.ts'
import { why } from '../why.ts'

const textsOf = (findings: readonly Finding[]) => findings.map(({ text }) => text)

const metadata = (name: string, more: object = {}) => ({ name, namespace: 'default', ...more })
const condition = (type: string, status: string, reason = type, message = '') => ({ type, status, reason, message })
const good = [condition('Accepted', 'True'), condition('Programmed', 'True'), condition('ResolvedRefs', 'True')]

type Stored = { readonly kind: string; readonly metadata: { readonly name: string; readonly namespace?: string } }

const coxswainClass = { kind: 'gatewayclasses', metadata: { name: 'coxswain', namespace: '' } }
const web = { kind: 'services', metadata: metadata('web'), spec: { ports: [{ port: 80 }] } }
const slice = (ready: boolean) => ({
  kind: 'endpointslices',
  metadata: metadata('web-1', { labels: { 'kubernetes.io/service-name': 'web' } }),
  endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready } }],
})
const stored = { kind: 'gateways', metadata: metadata('gateway') }
const whole: readonly Stored[] = [coxswainClass, stored, web, slice(true)]

const readerOf = (objects: readonly Stored[]): ClusterReader => ({
  list: async <T extends ApiObject>(kind: ResourceType<T>) =>
    objects.filter((each) => each.kind === kind.plural) as unknown as readonly T[],
  find: async <T extends ApiObject>(kind: ResourceType<T>, namespace: string, name: string) =>
    objects.find(
      (each) =>
        each.kind === kind.plural && each.metadata.name === name && (each.metadata.namespace ?? '') === namespace,
    ) as unknown as T | undefined,
  nowMs: 0,
})

const gatewayOf = (status?: object, gatewayClassName = 'coxswain') =>
  ({ metadata: metadata('gateway'), spec: { gatewayClassName, listeners: [] }, status }) as unknown as ApiObject
const withListener = (...conditions: readonly object[]) =>
  gatewayOf({ conditions: good, listeners: [{ name: 'a', attachedRoutes: 0, conditions }] })

const gateways: readonly (readonly [string, ApiObject, readonly string[]])[] = [
  ['is served', withListener(...good), []],
  ['has a missing class', gatewayOf({ conditions: good }, 'gone'), ['Its class gone does not exist.']],
  ['has no status', gatewayOf(), ['The controller of its class coxswain has not reported on it.']],
  [
    'waits for its controller',
    gatewayOf({ conditions: [condition('Accepted', 'Unknown', 'Pending')] }),
    ['The controller of its class coxswain has not reported on it.'],
  ],
  [
    'is not accepted',
    gatewayOf({ conditions: [condition('Accepted', 'False', 'InvalidParameters', 'no parameters')] }),
    ['It is not accepted: InvalidParameters: no parameters.'],
  ],
  [
    'is not programmed',
    gatewayOf({
      conditions: [condition('Accepted', 'True'), condition('Programmed', 'False', 'AddressNotUsable', 'not ours')],
    }),
    ['It is not programmed: AddressNotUsable: not ours.'],
  ],
  [
    'has a listener that is not programmed',
    withListener(condition('Programmed', 'False', 'Invalid', 'port 80 cannot be opened')),
    ['Its listener a is not programmed: Invalid: port 80 cannot be opened.'],
  ],
  [
    'has a listener with unresolved references',
    withListener(condition('Programmed', 'True'), condition('ResolvedRefs', 'False', 'InvalidRouteKinds', 'TCPRoute')),
    ['Its listener a has unresolved references: InvalidRouteKinds: TCPRoute.'],
  ],
]

suite('a Gateway that', () => {
  for (const [name, object, sentences] of gateways)
    test(name, async () => deepEqual(textsOf(await gatewayExplainer.explain(object, readerOf(whole))), sentences))
})

const parent = { name: 'gateway' }
const entry = (conditions: readonly object[], parentRef: object = parent) => ({
  parentRef,
  controllerName: 'coxswain.dev/gateway',
  conditions,
})
const routeOf = (parents: readonly object[] | undefined, parentRefs: readonly object[] = [parent], backend = {}) =>
  ({
    metadata: metadata('r'),
    spec: { parentRefs, rules: [{ backendRefs: [{ name: 'web', port: 80, ...backend }] }, {}] },
    ...(parents === undefined ? {} : { status: { parents } }),
  }) as unknown as ApiObject
const unresolved = (reason: string, message: string) => [
  condition('Accepted', 'True'),
  condition('ResolvedRefs', 'False', reason, message),
]
const notFound = unresolved('BackendNotFound', 'Service default/web does not exist')

const routes: readonly (readonly [string, ApiObject, readonly Stored[], readonly string[]])[] = [
  ['is served', routeOf([entry(good)]), whole, []],
  ['is served by a parent in its namespace', routeOf([entry(good, { ...parent, namespace: 'default' })]), whole, []],
  ['has no parent', routeOf([], []), whole, ['It names no parent, so nothing serves it.']],
  [
    'has a missing parent',
    routeOf(undefined, [{ name: 'gone', namespace: 'infra' }]),
    whole,
    ['Its parent Gateway infra/gone does not exist.'],
  ],
  [
    'has a parent whose controller has not reported',
    routeOf([entry(good, { ...parent, sectionName: 'b' }), entry(good, { ...parent, port: 80 })]),
    whole,
    ['The controller of its parent Gateway default/gateway has not reported on it: see coxswain why gateway/gateway.'],
  ],
  [
    'has a Service as its parent',
    routeOf(undefined, [{ group: '', kind: 'Service', name: 'web' }]),
    whole,
    ['No controller has reported on its parent Service default/web.'],
  ],
  [
    'is attached to one of its parents',
    routeOf(
      [
        entry(good, { ...parent, sectionName: 'a' }),
        entry([condition('Accepted', 'False', 'NoMatchingParent', 'no listener x')], { ...parent, sectionName: 'x' }),
      ],
      [
        { ...parent, sectionName: 'a' },
        { ...parent, sectionName: 'x' },
      ],
    ),
    whole,
    ['It is not attached to Gateway default/gateway, listener x: NoMatchingParent: no listener x.'],
  ],
  [
    'has rules that are not served',
    routeOf([entry([...good, condition('PartiallyInvalid', 'True', 'UnsupportedValue', 'Dropped Rule 1')])]),
    whole,
    ['Some of its rules are not served by Gateway default/gateway: UnsupportedValue: Dropped Rule 1.'],
  ],
  [
    'has a missing Service',
    routeOf([entry(notFound)]),
    [coxswainClass, stored],
    ['Its backend Service web does not exist.'],
  ],
  [
    'has a Service that was missing when its controller reported',
    routeOf([entry(notFound)]),
    whole,
    ['Its references are not all resolved: BackendNotFound: Service default/web does not exist.'],
  ],
  [
    'has a Service that it may not use',
    routeOf([entry(unresolved('RefNotPermitted', 'no ReferenceGrant'))], [parent], { namespace: 'other' }),
    whole,
    ['Its references are not all resolved: RefNotPermitted: no ReferenceGrant.'],
  ],
  [
    'has no ready endpoint',
    routeOf([entry(good)]),
    [coxswainClass, stored, web, slice(false)],
    ['Its backend Service web has no ready endpoint, so requests get 503: see coxswain why service/web.'],
  ],
]

for (const explainer of [httpRouteExplainer, grpcRouteExplainer, tlsRouteExplainer])
  suite(`of ${explainer.kind.plural}, one that`, () => {
    for (const [name, object, objects, sentences] of routes)
      test(name, async () => deepEqual(textsOf(await explainer.explain(object, readerOf(objects))), sentences))
  })

test('a kind that the server has described is recognized by its group and name', async () => {
  const names = { group: 'gateway.networking.k8s.io', version: 'v1beta1', kind: 'Gateway', plural: 'gateways' }
  const { waits } = await why(customResource(names), gatewayOf(undefined, 'gone'), readerOf(whole), [])
  deepEqual(waits, ['Its class gone does not exist.'])
})
