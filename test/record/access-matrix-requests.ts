// The requests of the access matrix: methods × forms of paths. Writes are dry runs, so that no request affects the
// next.
import { matrixAccount, type MatrixRequest } from '../../src/apiserver/authorization/access-matrix.harness.ts'

const container = { name: 'c', image: 'i', ports: [{ name: 'http', containerPort: 1 }] }
const template = { metadata: { labels: { app: 'a' } }, spec: { containers: [container] } }
const selector = { matchLabels: { app: 'a' } }

/** For the subject `/O=system:nodes/CN=system:node:x`. */
const signingRequest =
  'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIcE1JR1JBZ0VBTUM4eEZUQVRCZ05WQkFvTURITjVjM1JsYlRwdWIyUmxjekVXTUJRR0ExVUVBd3dOYzNsegpkR1Z0T201dlpHVTZlREJaTUJNR0J5cUdTTTQ5QWdFR0NDcUdTTTQ5QXdFSEEwSUFCS3pQREIrYW00V2VkRitoCjdDWTVxUVY4SG9lS0labHlSMXhNQ0lPeDZUZWJQbnphMk1kV09LNFZqbEJFRThtdmE1UEhmM1VITWJpd0tMbncKRnJkcXZLT2dBREFLQmdncWhrak9QUVFEQWdOSEFEQkVBaUFxMDZIY29XVlFiMU9uMnNMYUFma0E1MEYrVHFNRgpRZEdjOHQ2R2tYd0h4UUlnY0FxUERaVzYzUXdmS3hyZlhqazI1ZXY5bWRUTGNIYjUrZnJjZGpVbUhsTT0KLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0tCg=='

export const matrixObjects: readonly (readonly [path: string, object: object])[] = [
  ['/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } }],
  ['/api/v1/namespaces/default/serviceaccounts', { metadata: { name: matrixAccount.name } }],
  ['/api/v1/nodes', { metadata: { name: 'n' } }],
  ['/api/v1/namespaces/default/pods', { metadata: { name: 'p' }, spec: { nodeName: 'n', containers: [container] } }],
  ['/api/v1/namespaces/default/pods', { metadata: { name: 'pending' }, spec: { containers: [container] } }],
  ['/api/v1/namespaces/default/services', { metadata: { name: 's' }, spec: { ports: [{ name: 'web', port: 80 }] } }],
  ['/api/v1/namespaces/default/configmaps', { metadata: { name: 'c' } }],
  ['/apis/apps/v1/namespaces/default/deployments', { metadata: { name: 'd' }, spec: { selector, template } }],
  [
    '/apis/certificates.k8s.io/v1/certificatesigningrequests',
    {
      metadata: { name: 'x' },
      spec: { request: signingRequest, signerName: 'example.com/signer', usages: ['client auth'] },
    },
  ],
]

const [core, pods, configmaps] = ['', '/pods', '/configmaps'].map(
  (plural) => `/api/v1/namespaces/default${plural}`,
) as [string, string, string]
const deployments = '/apis/apps/v1/namespaces/default/deployments'
const requests = '/apis/certificates.k8s.io/v1/certificatesigningrequests'
const dry = '?dryRun=All'

const merge = { 'content-type': 'application/merge-patch+json' }
const apply = { 'content-type': 'application/apply-patch+yaml' }
const webSocket = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  'sec-websocket-protocol': 'v5.channel.k8s.io',
}
const spdy = { connection: 'Upgrade', upgrade: 'SPDY/3.1', 'x-stream-protocol-version': 'v4.channel.k8s.io' }

const every = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

const readingMethods = ['GET', 'HEAD', 'OPTIONS']
/** These do not support dry runs. */
const connections = /\/(proxy|exec|attach|portforward)/

/** All methods on a path; authorization does not depend on a valid body. */
const allMethods = (path: string, methods: readonly string[] = every): MatrixRequest[] =>
  methods.map((method) => ({
    method,
    path: readingMethods.includes(method) || connections.test(path) ? path : `${path}${dry}`,
    ...(method === 'PATCH' ? { headers: merge } : {}),
    ...(method === 'POST' || method === 'PUT' || method === 'PATCH' ? { body: {} } : {}),
  }))

const gets = (...paths: readonly string[]): MatrixRequest[] => paths.map((path) => ({ method: 'GET', path }))

const configMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })

const writes: MatrixRequest[] = [
  { method: 'POST', path: `${configmaps}${dry}`, body: configMap('new') },
  { method: 'PUT', path: `${configmaps}/c${dry}`, body: configMap('c') },
  { method: 'PUT', path: `${configmaps}/new${dry}`, body: configMap('new') },
  { method: 'PATCH', path: `${configmaps}/c${dry}`, headers: merge, body: { data: { a: 'b' } } },
  { method: 'PATCH', path: `${configmaps}/new${dry}`, headers: merge, body: { data: { a: 'b' } } },
  { method: 'PATCH', path: `${configmaps}/c${dry}&fieldManager=m`, headers: apply, body: configMap('c') },
  { method: 'PATCH', path: `${configmaps}/new${dry}&fieldManager=m`, headers: apply, body: configMap('new') },
  { method: 'PATCH', path: `${configmaps}/new/status${dry}&fieldManager=m`, headers: apply, body: configMap('new') },
  {
    method: 'PATCH',
    path: `${deployments}/new/status${dry}&fieldManager=m`,
    headers: apply,
    body: { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'new' } },
  },
  {
    method: 'PATCH',
    path: `/api/v1/namespaces/new${dry}&fieldManager=m`,
    headers: apply,
    body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'new' } },
  },
]

/** An update creates the object if it is missing, for the kinds that upstream allows it. */
const updatesToCreate: MatrixRequest[] = (
  [
    ['/api/v1/namespaces/default/endpoints', 'v1', 'Endpoints', {}],
    ['/api/v1/namespaces/default/events', 'v1', 'Event', { involvedObject: { namespace: 'default' } }],
    ['/api/v1/namespaces/default/limitranges', 'v1', 'LimitRange', { spec: { limits: [] } }],
    ['/api/v1/namespaces/default/resourcequotas', 'v1', 'ResourceQuota', {}],
    ['/api/v1/namespaces/default/secrets', 'v1', 'Secret', {}],
    ['/api/v1/namespaces/default/services', 'v1', 'Service', { spec: { ports: [{ port: 80 }] } }],
    ['/api/v1/namespaces/default/podtemplates', 'v1', 'PodTemplate', { template }],
    ['/apis/coordination.k8s.io/v1/namespaces/default/leases', 'coordination.k8s.io/v1', 'Lease', {}],
    [
      '/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles',
      'rbac.authorization.k8s.io/v1',
      'Role',
      { rules: [] },
    ],
    ['/apis/rbac.authorization.k8s.io/v1/clusterroles', 'rbac.authorization.k8s.io/v1', 'ClusterRole', { rules: [] }],
    ['/apis/scheduling.k8s.io/v1/priorityclasses', 'scheduling.k8s.io/v1', 'PriorityClass', { value: 1 }],
    ['/apis/storage.k8s.io/v1/storageclasses', 'storage.k8s.io/v1', 'StorageClass', { provisioner: 'a/b' }],
    [
      '/apis/networking.k8s.io/v1/ingressclasses',
      'networking.k8s.io/v1',
      'IngressClass',
      { spec: { controller: 'a/b' } },
    ],
    ['/apis/apps/v1/namespaces/default/deployments', 'apps/v1', 'Deployment', { spec: { selector, template } }],
  ] as const
).map(([path, apiVersion, kind, rest]) => ({
  method: 'PUT',
  path: `${path}/new${dry}`,
  body: { apiVersion, kind, metadata: { name: 'new' }, ...rest },
}))

const watches: MatrixRequest[] = [
  ...gets(
    ...['1', 'true', 'TRUE', 'x', '', '0', 'false', 'False'].map((value) => `${configmaps}?watch=${value}`),
    `${configmaps}?watch`,
    `${configmaps}?watch=0&watch=1`,
    ...['1', 'true', '0', ''].map((value) => `${configmaps}/c?watch=${value}`),
    `/api/v1/configmaps?watch=1`,
    `${pods}/p/log?watch=1`,
    `${pods}/p/exec?watch=1`,
    `${pods}/p/status?watch=1`,
    `${pods}/p/proxy/x?watch=1`,
    '/api/v1/nodes/n/proxy/pods?watch=1',
    '/api/v1/nodes/n/proxy?watch=true',
    `${deployments}/d/scale?watch=1`,
    '/api/v1/namespaces/default?watch=1',
    '/api/v1/watch/configmaps',
    '/api/v1/watch/namespaces/default/configmaps',
    '/api/v1/watch/namespaces/default/configmaps/c',
    '/api/v1/watch/namespaces/default/configmaps/c?watch=0',
    '/api/v1/watch/namespaces/default/pods/p/log',
    '/api/v1/watch/namespaces/default/pods/p/exec',
    '/api/v1/watch/namespaces/default/pods/p/proxy/x',
    '/api/v1/watch/nodes/n/proxy/pods',
    '/api/v1/watch/nodes/n/proxy',
    '/api/v1/watch/nodes/n',
    '/api/v1/watch/nodes',
    '/api/v1/watch/namespaces',
    '/api/v1/watch/namespaces/default',
    '/api/v1/watch/namespaces/default/status',
    '/api/v1/watch/namespaces/default/configmaps?fieldSelector=metadata.name%3Dc',
    '/api/v1/watch',
    '/api/v1/watch/',
    '/apis/apps/v1/watch/deployments',
    '/apis/apps/v1/watch/namespaces/default/deployments/d',
    '/apis/apps/v1/watch/namespaces/default/deployments/d/scale',
  ),
  ...allMethods('/api/v1/watch/namespaces/default/configmaps', ['HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']),
  ...allMethods('/api/v1/watch/namespaces/default/configmaps/c', ['HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']),
  { method: 'POST', path: '/api/v1/watch/nodes/n/proxy/run', body: {} },
  { method: 'POST', path: `${configmaps}${dry}&watch=1`, body: configMap('new') },
  { method: 'DELETE', path: `${configmaps}${dry}&watch=1` },
]

const selected = (query: string) => gets(`${configmaps}?${query}`, `${configmaps}?watch=1&${query}`)
const selectors: MatrixRequest[] = [
  ...selected('fieldSelector=metadata.name%3Dc'),
  ...selected('fieldSelector=metadata.name%3D%3Dc'),
  ...selected('fieldSelector=metadata.name%21%3Dc'),
  ...selected('fieldSelector=metadata.name%3Dc,metadata.namespace%3Ddefault'),
  ...selected('fieldSelector=metadata.namespace%3Ddefault,metadata.name%3Dc'),
  ...selected('fieldSelector=metadata.name%3Dc%2Fd'),
  ...selected('fieldSelector=metadata.name%3D..'),
  ...selected('fieldSelector=metadata.name%3D'),
  ...selected('fieldSelector=nonsense'),
  ...selected('labelSelector=a%3Db'),
  { method: 'DELETE', path: `${configmaps}${dry}&fieldSelector=metadata.name%3Dc` },
  ...gets(
    `${configmaps}/c?fieldSelector=metadata.name%3Dother`,
    '/api/v1/namespaces?fieldSelector=metadata.name%3Ddefault',
  ),
  ...gets('/api/v1/namespaces?watch=1&fieldSelector=metadata.name%3Ddefault'),
]

const streams: MatrixRequest[] = ['exec', 'attach', 'portforward', 'log', 'proxy', 'proxy/x'].flatMap((part) => [
  ...allMethods(`${pods}/p/${part}`),
  { method: 'GET', path: `${pods}/p/${part}`, headers: webSocket },
  { method: 'GET', path: `${pods}/p/${part}`, headers: spdy },
  { method: 'POST', path: `${pods}/p/${part}`, headers: webSocket },
  { method: 'POST', path: `${pods}/p/${part}`, headers: spdy },
  { method: 'GET', path: `${pods}/missing/${part}`, headers: webSocket },
])

const nodeProxy: MatrixRequest[] = [
  ...allMethods('/api/v1/nodes/n/proxy'),
  ...allMethods('/api/v1/nodes/n/proxy/a/b'),
  ...gets('/api/v1/nodes/https:n:1/proxy/a', '/api/v1/nodes/n:1/proxy/', '/api/v1/nodes/n/proxy/configz'),
  { method: 'GET', path: '/api/v1/nodes/n/proxy/exec/default/p/c', headers: webSocket },
]

const subresources: MatrixRequest[] = [
  ...['status', 'ephemeralcontainers', 'resize', 'binding', 'eviction', 'nosuch'].flatMap((part) =>
    allMethods(`${pods}/pending/${part}`, ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
  ),
  {
    method: 'POST',
    path: `${pods}/pending/binding${dry}`,
    body: { metadata: { name: 'pending' }, target: { kind: 'Node', name: 'n' } },
  },
  {
    method: 'POST',
    path: `${core}/bindings${dry}`,
    body: { metadata: { name: 'pending' }, target: { kind: 'Node', name: 'n' } },
  },
  {
    method: 'POST',
    path: `${pods}/p/eviction${dry}`,
    body: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p' } },
  },
  ...allMethods('/api/v1/namespaces/default/serviceaccounts/matrix/token', ['GET', 'POST', 'PUT']),
  ...allMethods('/api/v1/namespaces/default/services/s/proxy'),
  ...gets(
    '/api/v1/namespaces/default/services/https:s:web/proxy/x',
    '/api/v1/namespaces/default/services/s:80/proxy/x',
  ),
  ...allMethods('/api/v1/namespaces/default/services/s/status', ['GET', 'PATCH']),
  ...allMethods('/api/v1/nodes/n/status', ['GET', 'PUT', 'PATCH', 'DELETE']),
  ...allMethods(`${deployments}/d/scale`, ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
  ...allMethods(`${deployments}/d/status`, ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
  ...['approval', 'status'].flatMap((part) => allMethods(`${requests}/x/${part}`, ['GET', 'POST', 'PUT', 'PATCH'])),
  {
    method: 'PATCH',
    path: `${requests}/x/approval${dry}`,
    headers: merge,
    body: { status: { conditions: [{ type: 'Approved', status: 'True', reason: 'r' }] } },
  },
  { method: 'PATCH', path: `${requests}/x/status${dry}`, headers: merge, body: { status: { certificate: 'eA==' } } },
  ...allMethods('/api/v1/namespaces/default/status', ['GET', 'PUT', 'PATCH']),
  ...allMethods('/api/v1/namespaces/default/finalize', ['GET', 'PUT', 'PATCH']),
  ...allMethods('/api/v1/namespaces/default', ['GET', 'PUT', 'PATCH', 'POST']),
  ...allMethods('/api/v1/namespaces', ['GET', 'POST', 'DELETE']),
]

const reviews: MatrixRequest[] = [
  ...['tokenreviews', 'selfsubjectreviews'].flatMap((plural) =>
    allMethods(`/apis/authentication.k8s.io/v1/${plural}`, ['GET', 'POST']),
  ),
  ...['subjectaccessreviews', 'selfsubjectaccessreviews', 'selfsubjectrulesreviews'].flatMap((plural) =>
    allMethods(`/apis/authorization.k8s.io/v1/${plural}`, ['GET', 'POST']),
  ),
  ...allMethods('/apis/authorization.k8s.io/v1/namespaces/default/localsubjectaccessreviews', ['GET', 'POST']),
]

const paths: MatrixRequest[] = [
  ...gets(
    ...['/', '/api', '/api/', '/api/v1', '/api/v1/', '/apis', '/apis/', '/apis/apps', '/apis/apps/v1', '/version'],
    ...[
      '/healthz',
      '/livez',
      '/readyz',
      '/livez/ping',
      '/metrics',
      '/openapi/v2',
      '/openapi/v3',
      '/nosuch',
      '/nosuch/a/b',
    ],
    ...[
      '/apis/nosuch.example',
      '/apis/nosuch.example/v1',
      '/apis/nosuch.example/v1/widgets',
      '/api/v2/pods',
      '/api/v2',
    ],
    '/apis/nosuch.example/v1/namespaces/x/widgets',
    '/apis/nosuch.example/v1/namespaces/x/widgets/y/z',
    '/apis/nosuch.example/v1/namespaces/x/widgets/y/z/more',
    '/apis/nosuch.example/v1/widgets/y?watch=1',
    '/apis/nosuch.example/v1/watch/widgets/y',
    '/api/v1/nosuch',
    '/api/v1/namespaces/default/nosuch/x',
    '/api/v1/pods/p',
    '/api/v1/pods/p/log',
    '/api/v1/namespaces/default/nodes/n',
    `${configmaps}/c/`,
    `${configmaps}/`,
    '/api//v1//namespaces/default/configmaps',
    '//api/v1/nodes',
    '/api/v1/namespaces//pods',
    '/api/v1/namespaces//pods/p',
    '/api/v1/namespaces/default/pods//log',
    '/api/v1//pods',
    '/api/v1/namespaces/default//pods',
    '/api/v1/namespaces/default/pods/p%2Flog',
    '/api/v1/namespaces/default/configmaps/c%2F',
    '/api/v1/namespaces/default/pods/%70',
    '/api/v1/namespaces/%64efault/pods/p',
    '/API/v1/nodes',
    '/api/v1/Nodes',
    '/api/v1/nodes/../nodes',
    '/api/v1/nodes/./n',
    '/api/v1/proxy/namespaces/default/pods/p/x',
    '/api/v1/proxy/nodes/n/x',
    '/api/v1/proxy/nodes/n',
    '/api/v1/proxy/namespaces/default/services/s',
    '/api/v1/redirect/nodes/n',
    '/api/v1/namespaces/default/pods/p/proxy/a/b/c?watch=1',
  ),
  ...allMethods('/metrics', ['HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']),
  ...allMethods('/api/v1', ['POST', 'DELETE', 'OPTIONS']),
  ...allMethods('/apis/nosuch.example/v1/widgets', ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']),
  ...allMethods('/apis/nosuch.example/v1/widgets/y', ['POST', 'PUT', 'PATCH', 'DELETE']),
  ...allMethods('/api/v1/proxy/nodes/n/x', ['POST']),
  { method: 'TRACE', path: configmaps },
  { method: 'PROPFIND', path: `${configmaps}/c` },
]

export const matrixRequests: readonly MatrixRequest[] = [
  ...allMethods(configmaps),
  ...allMethods(`${configmaps}/c`),
  ...allMethods('/api/v1/configmaps'),
  ...allMethods('/api/v1/nodes'),
  ...allMethods('/api/v1/nodes/n'),
  ...allMethods('/api/v1/nodes/n/nosuch'),
  ...writes,
  ...updatesToCreate,
  ...watches,
  ...selectors,
  ...streams,
  ...nodeProxy,
  ...subresources,
  ...reviews,
  ...paths,
]
