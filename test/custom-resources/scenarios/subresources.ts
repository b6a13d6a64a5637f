// The subresources status and scale: what they change, generations, and their absence.
import {
  applyPatch,
  definition,
  get,
  jsonPatch,
  mergePatch,
  objectSchema,
  patch,
  post,
  put,
  remove,
  version,
  widgetsOf,
  type Scenario,
} from '../scenario.ts'

const schema = objectSchema({
  spec: objectSchema({
    replicas: { type: 'integer', minimum: 0 },
    size: { type: 'integer' },
    selector: { type: 'string' },
  }),
  status: objectSchema({
    replicas: { type: 'integer' },
    selector: { type: 'string' },
    phase: { type: 'string', enum: ['New', 'Ready'] },
  }),
  data: { type: 'string' },
})
const scale = {
  specReplicasPath: '.spec.replicas',
  statusReplicasPath: '.status.replicas',
  labelSelectorPath: '.status.selector',
}

const both = widgetsOf('status.example.com')
const path = both.path('w')
const status: Scenario = {
  name: 'the status subresource',
  definitions: [definition(both.group, [version(schema, { subresources: { status: {} } })])],
  steps: [
    both.create('w', { spec: { size: 1 }, status: { phase: 'Ready' }, data: 'a' }, { label: 'first' }),
    get(`${path}/status`),
    ...both.replace('w', { spec: { size: 2 }, status: { phase: 'Ready' }, data: 'a' }),
    ...both.replace('w', { spec: { size: 2 }, data: 'a' }),
    ...both.replace('w', { spec: { size: 2 }, data: 'b' }),
    ...both.replace('w', { spec: { size: 2 }, data: 'b' }, { labels: { a: 'b' } }),
    patch(path, mergePatch, { status: { phase: 'Ready' } }),
    patch(path, mergePatch, { metadata: { annotations: { a: 'b' } } }),
    patch(`${path}/status`, mergePatch, { status: { phase: 'Ready' } }),
    patch(`${path}/status`, mergePatch, { spec: { size: 9 }, data: 'z', status: { replicas: 1 } }),
    patch(`${path}/status`, mergePatch, {
      metadata: { labels: { c: 'd' }, annotations: { e: 'f' }, finalizers: ['example.com/x'] },
    }),
    patch(`${path}/status`, mergePatch, { status: { phase: 'Nonsense' } }),
    patch(`${path}/status`, mergePatch, { status: { unknown: 1 } }),
    patch(`${path}/status`, jsonPatch, [{ op: 'replace', path: '/status/phase', value: 'New' }]),
    patch(`${path}/status`, jsonPatch, [{ op: 'remove', path: '/status' }]),
    get(path, { label: 'now' }),
    put(
      `${path}/status`,
      both.object(
        'w',
        { spec: { size: 7 }, status: { phase: 'New' } },
        { resourceVersion: '{{now.metadata.resourceVersion}}' },
      ),
    ),
    put(
      `${path}/status`,
      both.object('w', { status: { phase: 'Ready' } }, { resourceVersion: '{{now.metadata.resourceVersion}}' }),
    ),
    put(`${path}/status`, both.object('w', { status: { phase: 'Ready' } })),
    put(`${both.path('missing')}/status`, both.object('missing', { status: {} }, { resourceVersion: '1' })),
    patch(`${both.path('missing')}/status`, mergePatch, {}),
    patch(`${path}/status?fieldManager=one`, applyPatch, both.object('w', { status: { phase: 'Ready', replicas: 3 } })),
    patch(
      `${path}/status?fieldManager=one&force=true`,
      applyPatch,
      both.object('w', { status: { phase: 'Ready' }, spec: { size: 5 } }),
    ),
    patch(`${path}/status?fieldManager=two`, applyPatch, both.object('w', { status: { phase: 'New' } })),
    patch(`${both.path('missing')}/status?fieldManager=one`, applyPatch, both.object('missing', { status: {} })),
    patch(
      `${path}?fieldManager=one`,
      applyPatch,
      both.object('w', { spec: { replicas: 2 }, status: { phase: 'New' } }),
    ),
    post(`${path}/status`, both.object('w')),
    remove(`${path}/status`),
    get(`${both.list}/status`),
    get(`${path}/scale`),
    get(`${path}/nonsense`),
    get(`${path}/status/more`),
  ],
}

const scaled = widgetsOf('scale.example.com')
const scaledPath = scaled.path('w')
const asScale = (spec: unknown, metadata: object = {}) => ({
  apiVersion: 'autoscaling/v1',
  kind: 'Scale',
  metadata: { name: 'w', namespace: 'default', ...metadata },
  spec,
})
const applied = (name: string, body: object | string, query = '') =>
  patch(`${scaled.path(name)}/scale?fieldManager=one${query}`, applyPatch, body)
const scales: Scenario = {
  name: 'the scale subresource',
  definitions: [definition(scaled.group, [version(schema, { subresources: { status: {}, scale } })])],
  steps: [
    scaled.create('w', { spec: { replicas: 3 } }),
    get(`${scaledPath}/scale`),
    patch(`${scaledPath}/status`, mergePatch, { status: { replicas: 2, selector: 'app=a' } }),
    get(`${scaledPath}/scale`, { label: 'scale' }),
    put(`${scaledPath}/scale`, asScale({ replicas: 5 }, { resourceVersion: '{{scale.metadata.resourceVersion}}' })),
    get(scaledPath),
    put(`${scaledPath}/scale`, asScale({ replicas: 6 }, { resourceVersion: '{{scale.metadata.resourceVersion}}' })),
    put(`${scaledPath}/scale`, asScale({ replicas: 6 })),
    put(`${scaledPath}/scale`, asScale({ replicas: 6 })),
    put(`${scaledPath}/scale`, asScale({})),
    put(`${scaledPath}/scale`, asScale({ replicas: -1 })),
    put(`${scaledPath}/scale`, asScale({ replicas: 'a' })),
    put(`${scaledPath}/scale`, asScale({ replicas: 1 }, { name: 'other' })),
    put(`${scaledPath}/scale`, { apiVersion: 'v1', kind: 'Scale', metadata: { name: 'w' }, spec: { replicas: 1 } }),
    put(`${scaledPath}/scale?dryRun=All`, asScale({ replicas: 9 })),
    patch(`${scaledPath}/scale`, mergePatch, { spec: { replicas: 8 } }),
    patch(`${scaledPath}/scale`, mergePatch, { spec: { replicas: -8 } }),
    patch(`${scaledPath}/scale`, mergePatch, { status: { replicas: 8 } }),
    patch(`${scaledPath}/scale`, jsonPatch, [{ op: 'replace', path: '/spec/replicas', value: 7 }]),
    patch(`${scaledPath}/scale`, 'application/strategic-merge-patch+json', { spec: { replicas: 2 } }),
    patch(`${scaledPath}/scale?fieldManager=one`, applyPatch, asScale({ replicas: 4 })),
    patch(`${scaledPath}/scale?fieldManager=one&force=true`, applyPatch, asScale({ replicas: 4 })),
    get(scaledPath),
    patch(`${scaled.path('missing')}/scale`, mergePatch, { spec: { replicas: 8 } }),
    get(`${scaled.path('missing')}/scale`),
    scaled.create('none'),
    get(`${scaled.path('none')}/scale`),
    patch(`${scaled.path('none')}/scale`, mergePatch, { spec: { replicas: 8 } }),
    get(`${scaledPath}/scale`, { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' }),
    ...[
      applied('w', asScale({ replicas: 4 }), '&dryRun=All'),
      applied('w', { ...asScale({ replicas: 4 }), apiVersion: 'v1' }),
      applied('w', scaled.object('w', { spec: { replicas: 4 } })),
      applied('w', asScale({ replicas: 'a' })),
      applied('w', asScale({ replicas: 4 }, { name: 'other' })),
      applied('w', asScale({ replicas: 4 }, { managedFields: [{}] })),
      applied('w', asScale({ replicas: 4 }, { resourceVersion: '1' })),
      applied('w', '{'),
      applied('none', asScale({ replicas: 4 }, { name: 'none' })),
      applied('missing', asScale({ replicas: 4 }, { name: 'missing' })),
      patch(`${scaledPath}/scale`, applyPatch, asScale({ replicas: 4 })),
    ],
  ],
}

const plain = widgetsOf('plain.example.com')
const withoutStatus: Scenario = {
  name: 'objects without subresources',
  definitions: [definition(plain.group, [version(schema)])],
  steps: [
    plain.create('w', { spec: { size: 1 }, status: { phase: 'Ready' } }),
    patch(plain.path('w'), mergePatch, { status: { phase: 'New' } }),
    patch(plain.path('w'), mergePatch, { metadata: { labels: { a: 'b' } } }),
    patch(plain.path('w'), mergePatch, { spec: { size: 2 } }),
    patch(plain.path('w'), mergePatch, {}),
    patch(`${plain.path('w')}/status`, mergePatch, { status: { phase: 'New' } }),
    get(`${plain.path('w')}/status`),
    get(`${plain.path('w')}/scale`),
  ],
}

const cluster: Scenario = {
  name: 'objects of the cluster',
  definitions: [
    definition('cluster.example.com', [version(schema, { subresources: { status: {} } })], { scope: 'Cluster' }),
  ],
  steps: [
    post('/apis/cluster.example.com/v1/widgets', {
      apiVersion: 'cluster.example.com/v1',
      kind: 'Widget',
      metadata: { name: 'a' },
    }),
    post('/apis/cluster.example.com/v1/widgets', {
      apiVersion: 'cluster.example.com/v1',
      kind: 'Widget',
      metadata: { name: 'b', namespace: 'default' },
    }),
    post('/apis/cluster.example.com/v1/namespaces/default/widgets', {
      apiVersion: 'cluster.example.com/v1',
      kind: 'Widget',
      metadata: { name: 'b' },
    }),
    get('/apis/cluster.example.com/v1/widgets/a'),
    get('/apis/cluster.example.com/v1/namespaces/default/widgets/a'),
    get('/apis/cluster.example.com/v1/namespaces/default/widgets'),
    get('/apis/cluster.example.com/v1/widgets'),
    patch('/apis/cluster.example.com/v1/widgets/a/status', mergePatch, { status: { phase: 'New' } }),
    remove('/apis/cluster.example.com/v1/widgets/a'),
    remove('/apis/cluster.example.com/v1/widgets'),
  ],
}

export const subresources: readonly Scenario[] = [status, scales, withoutStatus, cluster]
