// Media types of requests and responses, bodies that are not objects of the kind, methods, and dry runs.
import {
  applyPatch,
  definition,
  get,
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

const schema = objectSchema({ spec: objectSchema({ a: { type: 'string' }, count: { type: 'integer' } }) })
const protobuf = 'application/vnd.kubernetes.protobuf'
const media = widgetsOf('media.example.com')
const yaml = (name: string, rest = '') =>
  `apiVersion: ${media.group}/v1\nkind: Widget\nmetadata:\n  name: ${name}\n${rest}`

// A body in protobuf is not here: the handler of upstream panics and closes the connection.
const mediaTypes: Scenario = {
  name: 'media types',
  definitions: [definition(media.group, [version(schema)])],
  steps: [
    post(media.list, yaml('a', 'spec:\n  a: "text"\n  count: 5\n'), { contentType: 'application/yaml' }),
    post(media.list, yaml('b', 'spec: {a: yes, count: 5}\n'), { contentType: 'application/yaml' }),
    post(media.list, yaml('c', 'spec:\n  count: 010\n'), { contentType: 'application/yaml' }),
    post(media.list, `${yaml('d')}---\n${yaml('e')}`, { contentType: 'application/yaml' }),
    post(media.list, 'a: b: c', { contentType: 'application/yaml' }),
    post(media.list, yaml('f'), { contentType: 'application/json' }),
    post(media.list, media.object('g'), { contentType: 'application/json; charset=utf-8' }),
    post(media.list, media.object('h'), { contentType: 'text/plain' }),
    post(media.list, media.object('i'), { contentType: 'application/xml' }),
    post(media.list, media.object('j'), { contentType: '*/*' }),
    post(media.list, '', { contentType: 'application/cbor' }),
    patch(media.path('a'), protobuf, ''),
    remove(media.path('missing'), { kind: 'DeleteOptions', apiVersion: 'v1' }, { contentType: protobuf }),
    get(media.path('a'), { accept: 'application/yaml' }),
    get(media.list, { accept: 'application/yaml' }),
    get(media.path('missing'), { accept: 'application/yaml' }),
    get(media.path('a'), { accept: protobuf }),
    get(media.list, { accept: protobuf }),
    get(media.path('a'), { accept: `${protobuf},application/json` }),
    get(media.path('a'), { accept: 'text/html' }),
    get(media.path('a'), { accept: 'text/html,*/*;q=0.1' }),
    get(media.path('a'), { accept: 'application/*' }),
    get(media.path('a'), { accept: 'application/json;q=0' }),
    get(media.path('a'), { accept: 'application/cbor' }),
    get(media.path('a'), { accept: '' }),
    get(`${media.path('a')}?pretty=true`),
    get(`${media.list}?watch=1&resourceVersion=0&timeoutSeconds=60`, { accept: protobuf, events: 1 }),
    get(media.list, {
      accept: `${protobuf};as=Table;g=meta.k8s.io;v=v1,application/json;as=Table;g=meta.k8s.io;v=v1`,
      view: (body) => body.kind,
    }),
    get(media.list, {
      accept: `${protobuf};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json`,
      view: (body) => (typeof body === 'string' ? 'protobuf' : body.kind),
    }),
  ],
}

const wrong = widgetsOf('wrong.example.com')
const bodies: Scenario = {
  name: 'bodies that are not objects of the kind',
  definitions: [definition(wrong.group, [version(schema)])],
  steps: [
    post(wrong.list, { ...wrong.object('a'), apiVersion: 'wrong.example.com/v2' }),
    post(wrong.list, { ...wrong.object('a'), apiVersion: 'other.example.com/v1' }),
    post(wrong.list, { ...wrong.object('a'), apiVersion: '' }),
    post(wrong.list, { ...wrong.object('a'), apiVersion: 'a/b/c' }),
    post(wrong.list, { ...wrong.object('a'), kind: 'Gadget' }),
    post(wrong.list, { ...wrong.object('a'), kind: '' }),
    post(wrong.list, { ...wrong.object('a'), kind: 'WidgetList' }),
    post(wrong.list, { metadata: { name: 'a' } }),
    post(wrong.list, { kind: 'Widget', metadata: { name: 'a' } }),
    post(wrong.list, { apiVersion: 'wrong.example.com/v1', metadata: { name: 'a' } }),
    post(wrong.list, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }),
    post(wrong.list, { apiVersion: 'wrong.example.com/v1', kind: 'WidgetList', items: [] }),
    post(wrong.list, { apiVersion: 1, kind: {} }),
    post(wrong.list, ''),
    post(wrong.list, '{'),
    post(wrong.list, '[]'),
    post(wrong.list, 'null'),
    post(wrong.list, '"text"'),
    post(wrong.list, '{"apiVersion":"wrong.example.com/v1","kind":"Widget","metadata":{"name":"a"}} trailing'),
    post(
      wrong.list,
      '{"apiVersion":"wrong.example.com/v1","kind":"Widget","metadata":{"name":"a"},"spec":{"a":"\\ud800"}}',
    ),
    wrong.create('kept', { spec: { a: 'x' } }),
    put(wrong.path('kept'), { ...wrong.object('kept'), kind: 'Gadget' }),
    put(wrong.path('kept'), { ...wrong.object('kept'), apiVersion: 'wrong.example.com/v9' }),
    put(wrong.path('kept'), {}),
    put(wrong.path('kept'), '{'),
    put(wrong.list, wrong.object('kept')),
    post(wrong.path('kept'), wrong.object('kept')),
    patch(wrong.list, mergePatch, {}),
    remove(wrong.path('kept'), { kind: 'Nonsense', apiVersion: 'v1' }),
    remove(wrong.path('kept'), { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy: 'Nonsense' }),
    remove(wrong.path('kept'), { preconditions: { uid: '6ba7b810-9dad-41d1-80b4-00c04fd430c8' } }),
    remove(wrong.path('kept'), { preconditions: { resourceVersion: '1' } }),
    { method: 'OPTIONS', path: wrong.path('kept') },
    { method: 'HEAD', path: wrong.path('kept') },
    get('/apis/wrong.example.com/v1/gadgets'),
    get('/apis/wrong.example.com/v2/widgets'),
    get('/apis/unknown.example.com/v1/widgets'),
    post('/apis/unknown.example.com/v1/namespaces/default/widgets', wrong.object('a')),
    get(`${wrong.path('kept')}?resourceVersion=nonsense`),
    get(`${wrong.path('kept')}?resourceVersion=0`),
    remove(wrong.path('kept'), { gracePeriodSeconds: -5 }),
    post(`${wrong.list}?fieldManager=${'m'.repeat(129)}`, wrong.object('a')),
  ],
}

const dry = widgetsOf('dry.example.com')
const dryRuns: Scenario = {
  name: 'dry runs',
  definitions: [definition(dry.group, [version(schema)])],
  steps: [
    post(`${dry.list}?dryRun=All`, dry.object('a')),
    get(dry.path('a')),
    post(`${dry.list}?dryRun=Nonsense`, dry.object('a')),
    post(`${dry.list}?dryRun=All&dryRun=All`, dry.object('a')),
    post(`${dry.list}?dryRun=`, dry.object('a')),
    post(dry.list, dry.object('a'), { label: 'a' }),
    post(`${dry.list}?dryRun=All`, dry.object('a')),
    put(
      `${dry.path('a')}?dryRun=All`,
      dry.object('a', { spec: { a: 'x' } }, { resourceVersion: '{{a.metadata.resourceVersion}}' }),
    ),
    patch(`${dry.path('a')}?dryRun=All`, mergePatch, { spec: { count: 1 } }),
    patch(`${dry.path('a')}?dryRun=All&fieldManager=one`, applyPatch, dry.object('a', { spec: { count: 1 } })),
    patch(`${dry.path('b')}?dryRun=All&fieldManager=one`, applyPatch, dry.object('b', { spec: { count: 1 } })),
    remove(`${dry.path('a')}?dryRun=All`),
    remove(dry.path('a'), { kind: 'DeleteOptions', apiVersion: 'v1', dryRun: ['All'] }),
    remove(`${dry.list}?dryRun=All`),
    get(dry.path('a')),
    post(`${dry.list}?dryRun=All`, { ...dry.object(''), metadata: { generateName: 'gen-' } }),
  ],
}

export const requests: readonly Scenario[] = [mediaTypes, bodies, dryRuns]
