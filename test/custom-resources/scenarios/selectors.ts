// Selectors of fields and labels, and lists in pages.
import {
  definition,
  get,
  mergePatch,
  objectSchema,
  patch,
  remove,
  version,
  widgetsOf,
  type Scenario,
  type Step,
} from '../scenario.ts'

const widgets = widgetsOf('selectors.example.com')
const schema = objectSchema({
  spec: objectSchema({
    color: { type: 'string' },
    size: { type: 'integer' },
    on: { type: 'boolean' },
    level: { type: 'string', default: 'low' },
    other: { type: 'string' },
  }),
})
const fields = ['.spec.color', '.spec.size', '.spec.on', '.spec.level'].map((jsonPath) => ({ jsonPath }))
const namesOnly = (body: { items?: { metadata: { name: string } }[] }) =>
  body.items === undefined ? body : body.items.map(({ metadata }) => metadata.name)
const select = (query: string): Step => get(`${widgets.list}?${query}`, { view: namesOnly })
const byField = (selector: string): Step => select(`fieldSelector=${encodeURIComponent(selector)}`)
const byLabel = (selector: string): Step => select(`labelSelector=${encodeURIComponent(selector)}`)
const labelled = (name: string, labels: object, spec: object): Step =>
  widgets.create(name, { metadata: { name, labels }, spec }, { isPreparation: true })

const selecting: Scenario = {
  name: 'selectors',
  definitions: [definition(widgets.group, [version(schema, { selectableFields: fields })])],
  steps: [
    labelled('a', { app: 'x', tier: 'front' }, { color: 'red', size: 1, on: true }),
    labelled('b', { app: 'x' }, { color: 'blue', size: 2, on: false, level: 'high' }),
    labelled('c', { app: 'y' }, { color: 'red' }),
    labelled('d', {}, {}),
    byField('spec.color=red'),
    byField('spec.color==red'),
    byField('spec.color!=red'),
    byField('spec.color='),
    byField('spec.size=1'),
    byField('spec.size=01'),
    byField('spec.size!=0'),
    byField('spec.on=true'),
    byField('spec.on=false'),
    byField('spec.level=low'),
    byField('spec.color=red,spec.size=1'),
    byField('spec.color=red,metadata.name=c'),
    byField('metadata.name=a'),
    byField('metadata.name!=a'),
    byField('metadata.namespace=default'),
    byField('metadata.namespace=other'),
    byField('spec.other=x'),
    byField('spec.missing=x'),
    byField('status.phase=x'),
    byField('nonsense'),
    byField('spec.color=a=b'),
    byField(' spec.color = red '),
    byLabel('app=x'),
    byLabel('app!=x'),
    byLabel('app in (x,y),tier'),
    byLabel('app notin (x)'),
    byLabel('!app'),
    byLabel('app=x,tier!=front'),
    byLabel('app in x'),
    byLabel('app in ()'),
    byLabel('='),
    byLabel('a b'),
    byLabel('app>1'),
    select('labelSelector=app%3Dx&fieldSelector=spec.color%3Dblue'),
    get(`${widgets.list}?fieldSelector=spec.color%3Dred&watch=1&resourceVersion=0&timeoutSeconds=60`, {
      events: 2,
      view: (events) => events.map((each: { type: string }) => each.type),
    }),
    get(`${widgets.list}?fieldSelector=spec.nonsense%3Dred&watch=1`, { events: 1 }),
    get(widgets.list, { label: 'list', isPreparation: true }),
    patch(widgets.path('a'), mergePatch, { spec: { color: 'green' } }, { isPreparation: true }),
    patch(widgets.path('b'), mergePatch, { spec: { color: 'red' } }, { isPreparation: true }),
    patch(widgets.path('b'), mergePatch, { spec: { size: 7 } }, { isPreparation: true }),
    get(
      `${widgets.list}?fieldSelector=spec.color%3Dred&watch=1&resourceVersion={{list.metadata.resourceVersion}}&timeoutSeconds=60`,
      { events: 3 },
    ),
    remove(`${widgets.list}?fieldSelector=spec.color%3Dred`),
    select('limit=500'),
    remove(`${widgets.list}?labelSelector=app%3Dx&fieldSelector=spec.nonsense%3Da`),
    remove(`${widgets.list}?labelSelector=app%3Dx`),
    select(''),
  ],
}

const paged = widgetsOf('pages.example.com')
const page = (query: string, label?: string): Step =>
  get(`${paged.list}?${query}`, {
    view: (body) => (body.items === undefined ? body : { ...body, items: namesOnly(body) }),
    ...(label === undefined ? {} : { label }),
  })
const pages: Scenario = {
  name: 'lists in pages',
  definitions: [definition(paged.group, [version(schema)])],
  steps: [
    ...['a', 'b', 'c', 'd', 'e'].map((name) => paged.create(name, {}, { isPreparation: true })),
    page('limit=2', 'first'),
    page('limit=2&continue={{first.metadata.continue}}', 'second'),
    page('limit=2&continue={{second.metadata.continue}}'),
    page('limit=5'),
    page('limit=0'),
    page('limit=-1'),
    page('limit=a'),
    page('continue=nonsense'),
    page('limit=2&resourceVersion=0'),
    page('limit=2&resourceVersionMatch=Exact'),
    page('limit=2&continue={{first.metadata.continue}}&resourceVersion=1'),
    page('resourceVersion=nonsense'),
    page('resourceVersion=0&resourceVersionMatch=Exact'),
    page('resourceVersion=0&resourceVersionMatch=NotOlderThan'),
    page('resourceVersionMatch=Nonsense&resourceVersion=5'),
    page('resourceVersion={{first.metadata.resourceVersion}}&resourceVersionMatch=Exact'),
    page('limit=1&labelSelector=a'),
    page('limit=2&fieldSelector=metadata.name%3Dd'),
    get('/apis/pages.example.com/v1/widgets?limit=1', { view: namesOnly }),
    get('/apis/pages.example.com/v1/namespaces/missing/widgets'),
  ],
}

export const selectors: readonly Scenario[] = [selecting, pages]
