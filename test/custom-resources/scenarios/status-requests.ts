// Requests with several faults: which of them is reported. Updates of the status, patches of metadata, numbers out of range,
// and generations.
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
  version,
  widgetsOf,
  type Scenario,
} from '../scenario.ts'

const schema = objectSchema({
  spec: objectSchema({ size: { type: 'integer', maximum: 9 }, ratio: { type: 'number' } }),
  status: objectSchema({
    phase: { type: 'string', enum: ['New', 'Ready'] },
    count: { type: 'integer' },
    ratio: { type: 'number' },
  }),
  free: { 'x-kubernetes-preserve-unknown-fields': true },
})
const scale = { specReplicasPath: '.spec.size', statusReplicasPath: '.status.count' }
const uid = '6ba7b810-9dad-41d1-80b4-00c04fd430c8'

const checked = widgetsOf('checks.example.com')
const { path, object } = checked
const status = `${path('a')}/status`
const stale = { resourceVersion: '1' }
const current = { resourceVersion: '{{a.metadata.resourceVersion}}' }
const order: Scenario = {
  name: 'the order of checks',
  definitions: [definition(checked.group, [version(schema, { subresources: { status: {}, scale } })])],
  steps: [
    checked.create('a', { spec: { size: 1 } }, { label: 'a' }),
    put(status, object('a', { status: { phase: 'Nonsense' } }, stale)),
    put(status, object('a', { status: { phase: 'Nonsense' } })),
    put(status, object('a', { status: { phase: 'Nonsense' } }, current)),
    put(status, object('a', { status: { phase: 5 } }, stale)),
    put(status, object('a', { status: 'text' }, stale)),
    put(status, object('a', { status: {} }, { resourceVersion: 'nonsense' })),
    put(status, object('a', { status: {} }, { resourceVersion: '0' })),
    put(status, object('a', { status: { phase: 'Nonsense' } }, { ...current, uid })),
    put(status, object('a', { status: { phase: 'Nonsense' } }, { uid })),
    put(status, object('b', { status: { phase: 'Nonsense' } }, stale)),
    put(status, object('a', { status: { phase: 'New' } }, { ...stale, labels: { 'no label!': 'x' } })),
    put(status, object('a', { status: { phase: 'New' } }, { ...current, labels: { 'no label!': 'x' } })),
    put(`${status}?dryRun=All`, object('a', { status: { phase: 'Nonsense' } }, stale)),
    put(`${status}?fieldValidation=Strict`, object('a', { status: { unknown: 1 } }, stale)),
    put(path('a'), object('a', { spec: { size: 10 } }, stale)),
    put(path('a'), object('a', { spec: { size: 10 } })),
    put(path('a'), object('a', { spec: { size: 10 } }, current)),
    put(path('a'), object('a', { spec: { size: 'text' } }, stale)),
    put(path('a'), object('a', { spec: { size: 10 } }, { ...current, uid })),
    put(path('a'), object('a', { spec: { size: 10 } }, { ...stale, uid })),
    put(path('a'), object('b', { spec: { size: 10 } }, stale)),
    put(path('a'), object('a', { spec: { size: 10 } }, { ...stale, namespace: 'other' })),
    put(path('missing'), object('missing', { spec: { size: 10 } })),
    put(path('missing'), object('missing', { spec: { size: 10 } }, stale)),
    put(`${path('missing')}/status`, object('missing', { status: { phase: 'Nonsense' } })),
    put(`${path('missing')}/status`, object('missing', { status: 5 }, stale)),
    patch(status, mergePatch, { metadata: stale, status: { phase: 'Nonsense' } }),
    patch(status, mergePatch, { metadata: { uid }, status: { phase: 'Nonsense' } }),
    patch(path('a'), mergePatch, { metadata: stale, spec: { size: 10 } }),
    patch(path('a'), mergePatch, { metadata: { resourceVersion: 'nonsense' }, spec: { size: 10 } }),
    patch(path('a'), mergePatch, { metadata: { uid }, spec: { size: 10 } }),
    patch(`${status}?fieldManager=one`, applyPatch, object('a', { status: { phase: 'Nonsense' } }, stale)),
    patch(`${status}?fieldManager=one`, applyPatch, object('a', { status: { phase: 'Nonsense' } }, { uid })),
    patch(`${path('a')}?fieldManager=one`, applyPatch, object('a', { spec: { size: 10 } }, stale)),
    patch(`${path('a')}?fieldManager=one`, applyPatch, object('a', { spec: { size: 1 } }, { resourceVersion: 'x' })),
    put(`${path('a')}/scale`, {
      apiVersion: 'autoscaling/v1',
      kind: 'Scale',
      metadata: { name: 'a', namespace: 'default', ...stale },
      spec: { replicas: -1 },
    }),
    put(`${path('a')}/scale`, {
      apiVersion: 'autoscaling/v1',
      kind: 'Scale',
      metadata: { name: 'a', namespace: 'default', ...stale },
      spec: { replicas: 10 },
    }),
    put(`${path('a')}/scale`, {
      apiVersion: 'autoscaling/v1',
      kind: 'Scale',
      metadata: { name: 'a', namespace: 'default' },
      spec: { replicas: 10 },
    }),
    get(path('a')),
  ],
}

const removed = widgetsOf('removals.example.com')
const removal = (field: string) => [{ op: 'remove', path: `/metadata/${field}` }]
const removals: Scenario = {
  name: 'patches that remove metadata',
  definitions: [definition(removed.group, [version(schema, { subresources: { status: {}, scale } })])],
  steps: [
    removed.create('a', { spec: { size: 1 } }, { label: 'a' }),
    patch(removed.path('a'), jsonPatch, removal('resourceVersion')),
    patch(`${removed.path('a')}/status`, jsonPatch, removal('resourceVersion')),
    patch(removed.path('a'), jsonPatch, [
      ...removal('resourceVersion'),
      { op: 'replace', path: '/spec/size', value: 2 },
    ]),
    patch(removed.path('a'), jsonPatch, [
      ...removal('resourceVersion'),
      { op: 'replace', path: '/spec/size', value: 10 },
    ]),
    patch(removed.path('a'), mergePatch, { metadata: { resourceVersion: null } }),
    patch(removed.path('a'), mergePatch, { metadata: { resourceVersion: '' } }),
    patch(removed.path('a'), mergePatch, { metadata: { resourceVersion: '0' } }),
    patch(`${removed.path('a')}/status`, mergePatch, { metadata: { resourceVersion: null }, status: { count: 1 } }),
    patch(`${removed.path('a')}/status`, mergePatch, { metadata: { resourceVersion: '0' }, status: { count: 2 } }),
    patch(removed.path('a'), jsonPatch, [{ op: 'replace', path: '/metadata/resourceVersion', value: '' }]),
    patch(removed.path('a'), jsonPatch, [{ op: 'replace', path: '/metadata/resourceVersion', value: '1' }]),
    patch(removed.path('a'), jsonPatch, [
      {
        op: 'replace',
        path: '/metadata/resourceVersion',
        value: '{{a.metadata.resourceVersion}}',
      },
    ]),
    patch(removed.path('a'), jsonPatch, [{ op: 'replace', path: '/metadata/resourceVersion', value: 5 }]),
    patch(removed.path('a'), jsonPatch, removal('uid')),
    patch(removed.path('a'), jsonPatch, removal('name')),
    patch(removed.path('a'), jsonPatch, removal('namespace')),
    patch(removed.path('a'), jsonPatch, removal('generation')),
    patch(removed.path('a'), jsonPatch, removal('creationTimestamp')),
    patch(removed.path('a'), jsonPatch, [{ op: 'remove', path: '/metadata' }]),
    patch(`${removed.path('a')}/status`, jsonPatch, [{ op: 'remove', path: '/metadata' }]),
    patch(`${removed.path('a')}/status`, jsonPatch, removal('generation')),
    patch(`${removed.path('a')}/status`, jsonPatch, removal('uid')),
    patch(`${removed.path('a')}/status`, jsonPatch, removal('name')),
    get(removed.path('a')),
  ],
}

const numbers = widgetsOf('numbers.example.com')
const text = (fields: string, name = 'n') =>
  `{"apiVersion":"${numbers.group}/v1","kind":"Widget","metadata":{"name":"${name}"},${fields}}`
const yamlText = (fields: string) => `apiVersion: ${numbers.group}/v1\nkind: Widget\nmetadata:\n  name: w\n${fields}\n`
const ranges: Scenario = {
  name: 'numbers out of range',
  definitions: [definition(numbers.group, [version(schema, { subresources: { status: {}, scale } })])],
  steps: [
    post(numbers.list, text('"spec":{"ratio":1e400}')),
    post(numbers.list, text('"spec":{"ratio":-1e400}')),
    post(numbers.list, text('"spec":{"size":1e400}')),
    post(numbers.list, text('"free":{"a":[1e400]}')),
    post(numbers.list, text('"free":1e-400')),
    post(numbers.list, text('"unknown":1e400')),
    post(`${numbers.list}?dryRun=All`, text('"spec":{"ratio":1e308}')),
    post(`${numbers.list}?dryRun=All`, text('"spec":{"size":1e2}')),
    post(`${numbers.list}?dryRun=All`, text('"spec":{"ratio":1E400}')),
    post(numbers.list, yamlText('spec:\n  ratio: 1e400'), { contentType: 'application/yaml' }),
    numbers.create('a', { spec: { size: 1 } }, { label: 'a' }),
    put(
      numbers.path('a'),
      `{"apiVersion":"${numbers.group}/v1","kind":"Widget","metadata":{"name":"a","resourceVersion":"{{a.metadata.resourceVersion}}"},"spec":{"ratio":1e400}}`,
    ),
    put(`${numbers.path('a')}/status`, text('"status":{"ratio":1e400}', 'a')),
    patch(numbers.path('a'), mergePatch, '{"spec":{"ratio":1e400}}'),
    patch(numbers.path('a'), mergePatch, '{"free":1e400}'),
    patch(`${numbers.path('a')}/status`, mergePatch, '{"status":{"ratio":1e400}}'),
    patch(numbers.path('a'), jsonPatch, '[{"op":"add","path":"/spec/ratio","value":1e400}]'),
    patch(`${numbers.path('a')}/status`, jsonPatch, '[{"op":"add","path":"/status","value":{"ratio":1e400}}]'),
    patch(`${numbers.path('a')}?fieldManager=one`, applyPatch, text('"spec":{"ratio":1e400}', 'a')),
    patch(`${numbers.path('b')}?fieldManager=one`, applyPatch, text('"spec":{"ratio":1e400}', 'b')),
    patch(`${numbers.path('a')}/scale`, mergePatch, '{"spec":{"replicas":1e400}}'),
    patch(`${numbers.path('a')}/scale`, mergePatch, '{"spec":{"replicas":4294967296}}'),
    get(numbers.path('a')),
  ],
}

const counted = widgetsOf('generations.example.com')
const countedPath = counted.path('a')
const generations: Scenario = {
  name: 'generations of updates of the status',
  definitions: [definition(counted.group, [version(schema, { subresources: { status: {}, scale } })])],
  steps: [
    counted.create('a', { spec: { size: 1 } }),
    patch(`${countedPath}/status`, mergePatch, { metadata: { labels: { a: 'b' } } }),
    patch(`${countedPath}/status`, mergePatch, {
      metadata: { labels: { a: 'c' }, annotations: { x: 'y' } },
      status: { phase: 'New' },
    }),
    patch(`${countedPath}/status`, mergePatch, { metadata: { generation: 7 }, status: { phase: 'Ready' } }),
    patch(`${countedPath}/status`, mergePatch, { free: { a: 1 }, spec: { size: 2 } }),
    patch(countedPath, mergePatch, { metadata: { labels: { a: 'd' } } }),
    patch(countedPath, mergePatch, { metadata: { generation: 9 } }),
    patch(countedPath, mergePatch, { free: { a: 2 } }),
    get(countedPath, { label: 'now' }),
    put(
      `${countedPath}/status`,
      counted.object(
        'a',
        { spec: { size: 8 }, status: { phase: 'New' } },
        {
          resourceVersion: '{{now.metadata.resourceVersion}}',
          labels: { put: 'status' },
          finalizers: ['example.com/f'],
        },
      ),
    ),
    patch(`${countedPath}/status?fieldManager=one`, applyPatch, {
      ...counted.object('a', { status: { count: 4 } }, { labels: { applied: 'x' } }),
    }),
    patch(`${countedPath}/status`, jsonPatch, [{ op: 'add', path: '/metadata/labels', value: {} }]),
    get(countedPath),
    patch(countedPath, mergePatch, { metadata: { finalizers: null } }),
  ],
}

const scaled = widgetsOf('scaled-generations.example.com')
const scaledPath = scaled.path('a')
const generationOf = { view: (body: { metadata: { generation: number } }) => body.metadata.generation }
const scaling: Scenario = {
  name: 'generations of scaling',
  definitions: [definition(scaled.group, [version(schema, { subresources: { status: {}, scale } })])],
  steps: [
    scaled.create('a', { spec: { size: 1 } }, generationOf),
    patch(`${scaledPath}/scale`, mergePatch, { spec: { replicas: 3 } }),
    get(scaledPath, generationOf),
    patch(`${scaledPath}/scale`, mergePatch, { metadata: { labels: { a: 'b' } }, spec: { replicas: 3 } }),
    get(scaledPath, generationOf),
    patch(`${scaledPath}/status`, mergePatch, { metadata: { labels: { a: 'b' } }, status: { count: 3 } }, generationOf),
    patch(scaledPath, mergePatch, { spec: { size: 3 } }, generationOf),
    patch(scaledPath, mergePatch, { spec: { size: 4 } }, generationOf),
  ],
}

export const statusRequests: readonly Scenario[] = [order, removals, ranges, generations, scaling]
