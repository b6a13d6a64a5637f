// Deletion of objects and of definitions, watches, and quotas.
import {
  createDefinition,
  definition,
  definitionsPath,
  get,
  mergePatch,
  objectSchema,
  patch,
  post,
  remove,
  version,
  widgetNames,
  widgetsOf,
  type Response,
  type Scenario,
} from '../scenario.ts'

const schema = objectSchema({ spec: objectSchema({ a: { type: 'string' } }) })
const owner = { apiVersion: 'v1', kind: 'Node', name: 'n', uid: '6ba7b810-9dad-41d1-80b4-00c04fd430c8' }
const finalizers = ['example.com/one', 'example.com/two']
const options = (more: object) => ({ kind: 'DeleteOptions', apiVersion: 'v1', ...more })

const widgets = widgetsOf('deletion.example.com')
const withMetadata = (name: string, metadata: object) => widgets.create(name, { metadata: { name, ...metadata } })
const objects: Scenario = {
  name: 'deletion of objects',
  definitions: [definition(widgets.group, [version(schema)])],
  steps: [
    widgets.create('a'),
    remove(widgets.path('a')),
    get(widgets.path('a')),
    remove(widgets.path('a')),
    withMetadata('b', { finalizers }),
    remove(widgets.path('b')),
    remove(widgets.path('b')),
    get(widgets.path('b')),
    patch(widgets.path('b'), mergePatch, { spec: { a: 'x' } }),
    patch(widgets.path('b'), mergePatch, { metadata: { finalizers: [...finalizers, 'example.com/three'] } }),
    patch(widgets.path('b'), mergePatch, { metadata: { finalizers: ['example.com/two'] } }),
    post(widgets.list, widgets.object('b')),
    patch(widgets.path('b'), mergePatch, { metadata: { finalizers: null } }),
    get(widgets.path('b')),
    widgets.create('c', {}, { label: 'c' }),
    remove(widgets.path('c'), options({ preconditions: { uid: '{{c.metadata.uid}}', resourceVersion: '1' } })),
    remove(widgets.path('c'), options({ preconditions: { uid: '{{c.metadata.uid}}' } })),
    widgets.create('d'),
    remove(widgets.path('d'), options({ propagationPolicy: 'Foreground' })),
    get(widgets.path('d')),
    remove(widgets.path('d'), options({ propagationPolicy: 'Orphan' })),
    patch(widgets.path('d'), mergePatch, { metadata: { finalizers: null } }),
    widgets.create('e'),
    remove(`${widgets.path('e')}?propagationPolicy=Orphan`),
    patch(widgets.path('e'), mergePatch, { metadata: { finalizers: null } }),
    widgets.create('f'),
    remove(widgets.path('f'), options({ propagationPolicy: 'Background', gracePeriodSeconds: 30 })),
    remove(widgets.path('f'), options({ orphanDependents: true, propagationPolicy: 'Foreground' })),
    withMetadata('g', { ownerReferences: [{ ...owner, blockOwnerDeletion: true, controller: true }] }),
    patch(widgets.path('g'), mergePatch, { metadata: { ownerReferences: null } }),
    withMetadata('h', { labels: { keep: 'no' } }),
    withMetadata('i', { labels: { keep: 'no' }, finalizers }),
    remove(`${widgets.list}?labelSelector=keep%3Dno`),
    remove(widgets.list, options({ dryRun: ['All'] })),
    remove(widgets.list),
    get(widgets.list),
    patch(widgets.path('i'), mergePatch, { metadata: { finalizers: null } }),
    get(widgets.list),
    remove('/apis/deletion.example.com/v1/widgets'),
  ],
}

const watched = widgetsOf('watches.example.com')
const initial = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'
const watches: Scenario = {
  name: 'watches',
  definitions: [definition(watched.group, [version(schema)])],
  steps: [
    get(watched.list, { label: 'empty' }),
    watched.create('a', { spec: { a: '1' } }),
    patch(watched.path('a'), mergePatch, { metadata: { labels: { l: 'm' } } }),
    patch(watched.path('a'), mergePatch, { spec: { a: '2' } }, { label: 'changed' }),
    watched.create('b', { metadata: { name: 'b', finalizers } }),
    remove(watched.path('b')),
    patch(watched.path('b'), mergePatch, { metadata: { finalizers: null } }),
    get(`${watched.list}?watch=1&resourceVersion={{empty.metadata.resourceVersion}}&timeoutSeconds=60`, { events: 6 }),
    get(`${watched.list}?watch=true&resourceVersion={{changed.metadata.resourceVersion}}&timeoutSeconds=60`, {
      events: 2,
    }),
    get(
      `/apis/watches.example.com/v1/widgets?watch=1&resourceVersion={{empty.metadata.resourceVersion}}&timeoutSeconds=60`,
      { events: 1 },
    ),
    get(
      `/apis/watches.example.com/v1/watch/namespaces/default/widgets?resourceVersion={{empty.metadata.resourceVersion}}&timeoutSeconds=60`,
      { events: 1 },
    ),
    get(
      `/apis/watches.example.com/v1/watch/namespaces/default/widgets/a?resourceVersion={{empty.metadata.resourceVersion}}&timeoutSeconds=60`,
      { events: 2 },
    ),
    get(`${watched.path('a')}?watch=1&resourceVersion={{empty.metadata.resourceVersion}}&timeoutSeconds=60`, {
      events: 1,
    }),
    get(
      `${watched.list}?watch=1&labelSelector=l%3Dm&resourceVersion={{empty.metadata.resourceVersion}}&timeoutSeconds=60`,
      { events: 2 },
    ),
    get(`${watched.list}?watch=1&${initial}&timeoutSeconds=60`, { events: 2 }),
    get(`${watched.list}?watch=1&sendInitialEvents=true&timeoutSeconds=60`, { events: 2 }),
    get(
      `${watched.list}?watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan&resourceVersion=0&timeoutSeconds=1`,
      { events: 1 },
    ),
    get(`${watched.list}?watch=1&resourceVersionMatch=Exact&timeoutSeconds=60`, { events: 1 }),
    get(`${watched.list}?watch=1&resourceVersion=nonsense`, { events: 1 }),
    get(`${watched.list}?watch=1&resourceVersion=1&timeoutSeconds=60`, { events: 1, view: (events) => events }),
    get(`${watched.list}?watch=1&resourceVersion=999999999999&timeoutSeconds=1`, { events: 1 }),
    get(`${watched.list}?sendInitialEvents=true`),
    get(`${watched.list}?watch=1&timeoutSeconds=nonsense&resourceVersion=0`, { events: 1 }),
  ],
}

const isBeingDeleted = ({ body }: Response) => body.metadata?.deletionTimestamp !== undefined
const terminating =
  (reason: string) =>
  ({ body }: Response): boolean =>
    ((body.status?.conditions ?? []) as { type: string; reason: string }[]).some(
      (each) => each.type === 'Terminating' && each.reason === reason,
    )
const closing = widgetsOf('closing.example.com')
const definitionPath = `${definitionsPath}/widgets.${closing.group}`
const ofDefinitions: Scenario = {
  name: 'deletion of a definition with objects that have finalizers',
  definitions: [definition(closing.group, [version(schema)])],
  steps: [
    closing.create('plain'),
    closing.create('held', { metadata: { name: 'held', finalizers } }),
    remove(definitionPath),
    get(definitionPath, { until: terminating('InstanceDeletionInProgress') }),
    get(closing.path('held'), {
      until: isBeingDeleted,
      view: (body) => [body.kind, typeof body.metadata.deletionTimestamp],
    }),
    closing.create('new'),
    closing.apply('one', 'new'),
    closing.apply('one', 'held', { spec: { a: 'x' } }),
    patch(closing.path('held'), mergePatch, { spec: { a: 'y' } }),
    get(closing.path('plain'), { until: ({ status }) => status === 404 }),
    get('/apis/closing.example.com/v1', {
      view: (body) => body.resources?.map((each: { verbs: string[] }) => each.verbs),
    }),
    createDefinition(definition(closing.group, [version(schema)]), { until: () => true }),
    patch(closing.path('held'), mergePatch, { metadata: { finalizers: null } }),
    get(definitionPath, { until: ({ status }) => status === 404 }),
    get(closing.path('held'), { until: ({ status }) => status === 404 }),
    createDefinition(definition(closing.group, [version(schema)])),
    get(closing.list, { until: ({ status }) => status === 200 }),
  ],
}

const counted = widgetsOf('counted.example.com')
const quotas = '/api/v1/namespaces/counted/resourcequotas'
const inNamespace = '/apis/counted.example.com/v1/namespaces/counted/widgets'
const hard = { 'count/widgets.counted.example.com': '2' }
const quota: Scenario = {
  name: 'a quota of custom objects',
  definitions: [definition(counted.group, [version(schema)], { names: widgetNames })],
  steps: [
    post(
      '/api/v1/namespaces',
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'counted' } },
      { isPreparation: true, until: ({ status }) => status !== 409 },
    ),
    post(quotas, { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q' }, spec: { hard } }),
    patch(`${quotas}/q/status`, mergePatch, { status: { hard, used: { 'count/widgets.counted.example.com': '0' } } }),
    post(`${inNamespace}?dryRun=All`, counted.object('a'), { isPreparation: true }),
    post(inNamespace, counted.object('a')),
    post(inNamespace, counted.object('b')),
    post(inNamespace, counted.object('c'), { until: ({ status }) => status === 403 }),
    post(`${inNamespace}?dryRun=All`, counted.object('c')),
    get(`${quotas}/q`),
    remove(`${inNamespace}/a`),
    remove('/api/v1/namespaces/counted', undefined, { isPreparation: true }),
    post(inNamespace, counted.object('d')),
    remove(inNamespace),
    patch('/api/v1/namespaces/counted', mergePatch, {}, { isPreparation: true }),
    remove(`${quotas}/q`, undefined, { isPreparation: true }),
    {
      method: 'PUT',
      path: '/api/v1/namespaces/counted/finalize',
      body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'counted' }, spec: { finalizers: [] } },
      isPreparation: true,
    },
  ],
}

export const deletions: readonly Scenario[] = [objects, watches, ofDefinitions, quota]
