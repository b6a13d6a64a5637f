// The scenarios of the differential test.
import type { Response } from '../custom-resources/scenario.ts'
import {
  aggregated,
  apiService,
  apiServices,
  condition,
  externalService,
  gardenServed,
  get,
  group,
  portPlaceholder,
  post,
  prepared,
  remove,
  serviceNamed,
  services,
  versionsIn,
  type RequestStep,
  isRequest,
  type Scenario,
  type Step,
} from './scenario.ts'

const v1 = `/apis/${group}/v1`
const flowers = `${v1}/namespaces/default/flowers`
const asJoe = { 'impersonate-user': 'joe' }

const groupNames = (body: Response['body']) =>
  body.groups
    .map(({ name, versions }: { name: string; versions: { version: string }[] }) => [
      name,
      ...versions.map(({ version }) => version),
    ])
    .filter(([name]: string[]) => name !== 'metrics.k8s.io')

const gardenOf = (body: Response['body']) => versionsIn(body)

const table = { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' }
const cellsOf = (body: Response['body']) => body.rows[0].cells.slice(0, 3)

const put = (path: string, body: object, more: Partial<RequestStep> = {}): RequestStep => ({
  method: 'PUT',
  path,
  body,
  ...more,
})
const patch = (path: string, body: object): RequestStep => ({ method: 'PATCH', path, body })

const flower = (name: string, colour: string) => ({ metadata: { name, namespace: 'default' }, spec: { colour } })

const clusterService = (ports: readonly object[]) => serviceNamed('garden', { ports })
const slice = (name: string, ports: readonly object[], endpoints: readonly object[]) => ({
  metadata: { name, labels: { 'kubernetes.io/service-name': 'garden' } },
  addressType: 'IPv4',
  ports,
  endpoints,
})
const slices = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices'

const unavailableIs = (step: RequestStep): RequestStep => ({ ...step, until: ({ status }) => status === 503 })

const definition = {
  metadata: { name: `trees.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { plural: 'trees', kind: 'Tree' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
}

const all: readonly Scenario[] = [
  {
    name: 'conditions of a Service',
    steps: [
      post(apiServices, apiService('v1', {}, { port: 443 })),
      condition('v1', 'ServiceNotFound'),
      get(`${apiServices}/v1.${group}`, { headers: table, view: cellsOf }),
      get(v1),
      get(flowers),
      prepared(post(services, clusterService([{ name: 'http', port: 80 }]))),
      condition('v1', 'ServicePortError'),
      prepared(patch(`${services}/garden`, { spec: { ports: [{ name: 'https', port: 443 }] } })),
      condition('v1', 'EndpointsNotFound'),
      prepared(post(slices, slice('garden-1', [], []))),
      condition('v1', 'MissingEndpoints'),
      prepared(remove(`${slices}/garden-1`)),
      prepared(remove(`${services}/garden`)),
      condition('v1', 'ServiceNotFound'),
      remove(`${apiServices}/v1.${group}`, { view: ({ kind, status }) => ({ kind, status }) }),
      get(v1, { until: ({ status }) => status === 404 }),
    ],
  },
  {
    name: 'conditions of a server',
    steps: [
      prepared(post(services, externalService)),
      prepared(post(apiServices, apiService('v1'))),
      condition('v1', 'Passed'),
      get(`${apiServices}/v1.${group}`, { headers: table, view: cellsOf }),
      { server: 'fail' },
      condition('v1', 'FailedDiscoveryCheck'),
      get(`${apiServices}/v1.${group}`, { headers: table, view: cellsOf }),
      get(flowers),
      { server: 'recover' },
      condition('v1', 'Passed'),
      prepared(remove(`${apiServices}/v1.${group}`)),
      prepared(post(apiServices, apiService('v1', { insecureSkipTLSVerify: true, caBundle: undefined }))),
      condition('v1', 'Passed'),
      prepared(remove(`${apiServices}/v1.${group}`)),
      prepared(post(apiServices, apiService('v1', { caBundle: undefined }))),
      condition('v1', 'FailedDiscoveryCheck'),
      get(flowers),
      prepared(remove(`${apiServices}/v1.${group}`)),
      prepared(post(apiServices, apiService('v3'))),
      condition('v3', 'FailedDiscoveryCheck'),
    ],
  },
  {
    name: 'a server that is gone',
    steps: [
      ...gardenServed,
      { server: 'stop' },
      get(`${v1}/echoes`),
      condition('v1', 'FailedDiscoveryCheck'),
      condition('v2', 'FailedDiscoveryCheck'),
      unavailableIs(get(flowers)),
      get(v1),
      post(flowers, flower('rose', 'red')),
      get(`/apis/${group}`),
      get('/apis', { view: groupNames }),
      get('/apis', {
        headers: aggregated,
        until: ({ body }) => versionsIn(body)?.every(({ freshness }) => freshness === 'Stale') === true,
        view: gardenOf,
      }),
      get(`/openapi/v3${v1}`),
      get('/api/v1/namespaces/default', { view: ({ kind }) => kind }),
      { server: 'start' },
      condition('v1', 'Passed'),
      get(flowers, { until: ({ status }) => status === 200 }),
    ],
  },
  {
    name: 'requests',
    steps: [
      ...gardenServed,
      get(`${v1}/echoes`),
      get(`${v1}/echoes?watch=false&limit=5&x=%20y`),
      get(`${v1}/echoes/a%20b`),
      get(`${v1}/echoes/a%2Fb`),
      get(`${v1}/echoes/`),
      get(`/apis/${group}/v2/echoes`),
      get(`${v1}/echoes`, {
        headers: { 'x-remote-user': 'evil', 'x-remote-group': 'system:masters', 'x-custom': 'a' },
      }),
      get(`${v1}/echoes`, { headers: { 'x-remote-extra-scopes': 'all', 'x-remote-uid': '1' } }),
      get(`${v1}/echoes`, { headers: { 'x-forwarded-for': '192.0.2.9', cookie: 'a=b' } }),
      get(`${v1}/echoes`, { headers: { 'impersonate-user': 'ann', 'impersonate-group': 'system:masters' } }),
      get(`${v1}/echoes`, {
        headers: {
          'impersonate-user': 'ann',
          'impersonate-uid': '7',
          'impersonate-group': 'system:masters',
          'impersonate-extra-example.com%2fscopes': 'all',
        },
      }),
      get(`${v1}/echoes`, { headers: asJoe }),
      get(v1, { headers: asJoe, view: ({ kind }) => kind }),
      get(flowers, { headers: asJoe }),
      post(`${v1}/echoes`, { a: 1 }),
      post(`${v1}/echoes`, 'not JSON', { headers: { 'content-type': 'text/plain', accept: 'text/html' } }),
      put(`${v1}/echoes/a`, { a: 1 }),
      {
        method: 'PATCH',
        path: `${v1}/echoes/a`,
        body: [{ op: 'add' }],
        headers: { 'content-type': 'application/json-patch+json' },
      },
      remove(`${v1}/echoes/a`),
      { method: 'OPTIONS', path: `${v1}/echoes/a` },
      { method: 'HEAD', path: `${v1}/echoes/a` },
      get(`${v1}/failures/500`),
      get(`${v1}/failures/404`),
      get(`${v1}/failures/429`),
      get(`${v1}/failures/close`),
      get(`${v1}/failures/redirect`),
      get(`${v1}/unknown`),
      get(`/apis/${group}/v9`),
      get(`/apis/${group}/v9/flowers`),
      get(`/apis/${group}/v9/flowers`, { headers: asJoe }),
    ],
  },
  {
    name: 'objects',
    steps: [
      ...gardenServed,
      post(flowers, flower('rose', 'red')),
      get(`${flowers}/rose`),
      put(`${flowers}/rose`, flower('rose', 'white')),
      patch(`${flowers}/rose`, { spec: { colour: 'pink' } }),
      get(flowers),
      get(`${v1}/flowers`),
      get(`${v1}/flowers?watch=true`, { events: 1 }),
      get(`${flowers}/tulip`),
      remove(`${flowers}/rose`),
      remove(flowers),
    ],
  },
  {
    name: 'discovery',
    steps: [
      ...gardenServed,
      get(`/apis/${group}`),
      get(`/apis/${group}/`),
      post(`/apis/${group}`, {}),
      get(v1),
      get(`${v1}/`, { view: ({ kind }) => kind }),
      get('/apis', { view: groupNames }),
      get('/apis', { headers: aggregated, view: gardenOf }),
      get(`/apis/${group}`, { headers: aggregated }),
      prepared(patch(`${apiServices}/v1.${group}`, { spec: { versionPriority: 20 } })),
      get(`/apis/${group}`, { until: ({ body }) => body.preferredVersion.version === 'v1' }),
      prepared(patch(`${apiServices}/v1.${group}`, { spec: { groupPriorityMinimum: 17_900 } })),
      get('/apis', { until: ({ body }) => body.groups[1].name === group, view: groupNames }),
      get('/openapi/v3', {
        until: ({ body }) =>
          body.paths[`apis/${group}/v1`] !== undefined && body.paths[`apis/${group}/v2`] !== undefined,
        view: ({ paths }) =>
          Object.fromEntries(Object.entries(paths as object).filter(([name]) => name.includes(group))),
      }),
      get(`/openapi/v3${v1}`),
      get(`/openapi/v3${v1}?hash=1`, { view: ({ openapi }) => openapi }),
      get(`/openapi/v3/apis/${group}/v9`),
      get('/openapi/v2', {
        until: ({ body }) =>
          body.paths[`${v1}/flowers`] !== undefined && body.paths[`/apis/${group}/v2/flowers`] !== undefined,
        view: ({ paths, definitions }) => [
          Object.fromEntries(Object.entries(paths as object).filter(([name]) => name.includes(group))),
          Object.fromEntries(Object.entries(definitions as object).filter(([name]) => /garden|unused/.test(name))),
        ],
      }),
    ],
  },
  {
    name: 'a group that a definition serves',
    steps: [
      prepared(post(services, externalService)),
      prepared(post(apiServices, apiService('v1'))),
      prepared(condition('v1', 'Passed')),
      prepared(post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition)),
      prepared(
        get(`/apis/apiextensions.k8s.io/v1/customresourcedefinitions/trees.${group}`, {
          until: ({ body }) =>
            (body.status?.conditions ?? []).some(
              (each: { type: string; status: string }) => each.type === 'Established' && each.status === 'True',
            ),
        }),
      ),
      get(`${apiServices}/v1.${group}`, { view: ({ metadata, spec }) => [metadata.labels, spec.service] }),
      get(`${v1}/trees`),
      get(v1, { view: ({ resources }) => resources.map(({ name }: { name: string }) => name) }),
      remove(`${apiServices}/v1.${group}`, { view: ({ kind }) => kind }),
      get(`${apiServices}/v1.${group}`, {
        until: ({ status }) => status === 200,
        view: ({ metadata, spec }) => [metadata.labels, spec],
      }),
      condition('v1', 'Local'),
      get(`${v1}/trees`, { until: ({ status }) => status === 200, view: ({ kind }) => kind }),
      get(`${v1}/flowers`),
      get('/apis', { headers: aggregated, view: (body) => gardenOf(body)?.map(({ freshness }) => freshness) }),
      // The label of an APIService that the server manages protects it.
      patch(`${apiServices}/v1.${group}`, {
        spec: { service: { name: 'garden', namespace: 'default', port: portPlaceholder }, insecureSkipTLSVerify: true },
      }),
      get(`${apiServices}/v1.${group}`, {
        until: ({ body }) => body.spec.service === undefined,
        view: ({ spec }) => spec,
      }),
    ],
  },
]

/** Of an APIService, metadata is recorded only where a step asks for it. */
const withView = (step: Step): Step =>
  isRequest(step) && step.path.startsWith(apiServices) && step.view === undefined
    ? { ...step, view: (body: Response['body']) => ({ ...body, metadata: { name: body.metadata?.name } }) }
    : step

export const scenarios: readonly Scenario[] = all.map(({ name, steps }) => ({ name, steps: steps.map(withView) }))
