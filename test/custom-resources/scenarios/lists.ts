// Lists of types set and map reject duplicates; metadata of objects is validated.
import {
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

const port = objectSchema(
  { name: { type: 'string' }, protocol: { type: 'string', default: 'TCP' }, number: { type: 'integer' } },
  { required: ['name'] },
)
const schema = objectSchema({
  set: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
  numbers: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'number' } },
  lists: {
    type: 'array',
    'x-kubernetes-list-type': 'set',
    items: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'atomic' },
  },
  objects: {
    type: 'array',
    'x-kubernetes-list-type': 'set',
    items: { ...objectSchema({ a: { type: 'string' } }), 'x-kubernetes-map-type': 'atomic' },
  },
  map: {
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['name', 'protocol'],
    items: port,
  },
  atomic: { type: 'array', 'x-kubernetes-list-type': 'atomic', items: { type: 'string' } },
  deep: objectSchema({
    list: {
      type: 'array',
      items: objectSchema({ set: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'integer' } } }),
    },
  }),
})

const widgets = widgetsOf('lists.example.com')
const duplicates: Scenario = {
  name: 'duplicates in lists of types set and map',
  definitions: [definition(widgets.group, [version(schema)])],
  steps: [
    widgets.create('a', { set: ['a', 'b'], map: [{ name: 'x' }, { name: 'x', protocol: 'UDP' }], atomic: ['a', 'a'] }),
    widgets.create('b', { set: ['a', 'b', 'a', 'b', 'a'] }),
    widgets.create('c', { numbers: [1, 1.0, 2] }),
    widgets.create('d', { lists: [['a'], ['b'], ['a']] }),
    widgets.create('e', { objects: [{ a: 'x' }, { a: 'y' }, { a: 'x' }] }),
    widgets.create('f', { map: [{ name: 'x' }, { name: 'y' }, { name: 'x', protocol: 'TCP' }] }),
    widgets.create('g', { map: [{ name: 'x', number: 1 }, { name: 'x', number: 2 }, { name: 'x' }] }),
    widgets.create('h', { map: [{ number: 1 }] }),
    widgets.create('i', { deep: { list: [{ set: [1, 2] }, { set: [3, 3] }] } }),
    widgets.create('j', { set: ['a', 'a'], map: [{ name: 'x' }, { name: 'x' }], deep: { list: [{ set: [1, 1] }] } }),
    ...widgets.replace('a', { set: ['a', 'a'] }),
    patch(widgets.path('a'), mergePatch, { map: [{ name: 'x' }, { name: 'x' }] }),
    widgets.apply('one', 'a', { set: ['c', 'c'] }),
    widgets.apply('one', 'a', { map: [{ name: 'x' }, { name: 'x' }] }),
  ],
}

const named = widgetsOf('metadata.example.com')
const owner = { apiVersion: 'v1', kind: 'Node', name: 'n', uid: '6ba7b810-9dad-41d1-80b4-00c04fd430c8' }
const object = (metadata: object, more: object = {}) => ({ ...named.object(''), metadata, ...more })
const tries = (metadata: object) => post(`${named.list}?dryRun=All`, object(metadata))
const metadata: Scenario = {
  name: 'metadata of objects',
  definitions: [definition(named.group, [version(objectSchema({}))])],
  steps: [
    tries({}),
    tries({ name: '' }),
    tries({ name: 'A' }),
    tries({ name: 'a_b' }),
    tries({ name: 'a.b' }),
    tries({ name: 'a'.repeat(254) }),
    tries({ name: 'a/b' }),
    tries({ name: '..' }),
    tries({ name: 1 }),
    tries({ generateName: 'gen-' }),
    tries({ generateName: 'Gen-' }),
    tries({ generateName: 'a'.repeat(300) }),
    tries({ name: 'a', namespace: 'other' }),
    tries({ name: 'a', namespace: 'default' }),
    tries({ name: 'a', labels: { 'a b': 'c', x: 'y z', '': '1' } }),
    tries({ name: 'a', labels: { a: 1 } }),
    tries({ name: 'a', labels: [] }),
    tries({ name: 'a', labels: null, annotations: null, finalizers: null, ownerReferences: null }),
    tries({ name: 'a', annotations: { 'a b': 'c' } }),
    tries({ name: 'a', annotations: { a: 'x'.repeat(10), B: '' } }),
    tries({ name: 'a', finalizers: ['nonsense', 'example.com/ok', 'a b'] }),
    tries({ name: 'a', finalizers: ['example.com/a', 'example.com/a'] }),
    tries({ name: 'a', ownerReferences: [owner] }),
    tries({ name: 'a', ownerReferences: [{}] }),
    tries({ name: 'a', ownerReferences: [{ ...owner, apiVersion: 'a/b/c' }] }),
    tries({
      name: 'a',
      ownerReferences: [
        { ...owner, controller: true },
        { ...owner, name: 'm', controller: true },
      ],
    }),
    tries({ name: 'a', ownerReferences: [{ ...owner, apiVersion: 'v1', kind: 'Event' }] }),
    tries({ name: 'a', ownerReferences: [{ ...owner, blockOwnerDeletion: 'yes' }] }),
    tries({ name: 'a', ownerReferences: [owner, owner] }),
    tries({ name: 'a', uid: owner.uid, resourceVersion: '5' }),
    tries({ name: 'a', uid: owner.uid, generation: 7, creationTimestamp: '2020-01-01T00:00:00Z', selfLink: '/x' }),
    tries({ name: 'a', deletionTimestamp: '2020-01-01T00:00:00Z', deletionGracePeriodSeconds: 5 }),
    tries({ name: 'a', creationTimestamp: 'nonsense' }),
    tries({ name: 'a', generation: 'x' }),
    tries({ name: 'a', managedFields: [{ manager: 'a' }] }),
    tries({ name: 'a', managedFields: [] }),
    post(`${named.list}?dryRun=All`, { ...object({ name: 'a' }), metadata: null }),
    post(`${named.list}?dryRun=All`, { ...object({ name: 'a' }), metadata: 'text' }),
    post(named.list, object({ name: 'kept', labels: { a: 'b' } }), { label: 'kept' }),
    post(named.list, object({ name: 'kept' })),
    put(named.path('kept'), object({ name: 'other' })),
    put(named.path('kept'), object({})),
    put(named.path('kept'), object({ name: 'kept' })),
    ...named.replace('kept', {}, { namespace: 'other' }),
    ...named.replace('kept', {}, { uid: owner.uid }),
    put(named.path('kept'), object({ name: 'kept', resourceVersion: '1' })),
    put(named.path('kept'), object({ name: 'kept', resourceVersion: 'nonsense' })),
    ...named.replace('kept', {}, { uid: '{{kept.metadata.uid}}', labels: { a: 'b' } }),
    ...named.replace('kept', {}, { creationTimestamp: '2020-01-01T00:00:00Z', generation: 9 }),
    ...named.replace('kept', {}, { deletionTimestamp: '2020-01-01T00:00:00Z' }),
    put(named.path('new'), object({ name: 'new' })),
    put(named.path('new'), object({ name: 'new', resourceVersion: '5' })),
    put(named.path('new'), object({ name: 'new', uid: owner.uid })),
    patch(named.path('kept'), mergePatch, { metadata: { name: 'x' } }),
    patch(named.path('kept'), mergePatch, { metadata: { labels: { '-': '-' } } }),
    patch(named.path('missing'), mergePatch, {}),
    get(named.path('missing')),
    remove(named.path('missing')),
    remove(named.path('kept')),
    get(named.path('A%20b')),
    post('/apis/metadata.example.com/v1/namespaces/missing/widgets', object({ name: 'a' })),
    post('/apis/metadata.example.com/v1/widgets', object({ name: 'a' })),
    get('/apis/metadata.example.com/v1/widgets/a'),
  ],
}

export const lists: readonly Scenario[] = [duplicates, metadata]
