// Tables: columns of every type and JSON paths of every form, and what rows include.
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
} from '../scenario.ts'

const table = 'application/json;as=Table;g=meta.k8s.io;v=v1,application/json'
const preserved = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
const column = (name: string, type: string, jsonPath: string, more: object = {}) => ({ name, type, jsonPath, ...more })

const columns = [
  column('Text', 'string', '.spec.text', { description: 'a text' }),
  column('Whole', 'integer', '.spec.whole', { format: 'int32' }),
  column('Number', 'number', '.spec.number', { format: 'double' }),
  column('Flag', 'boolean', '.spec.flag'),
  column('Date', 'date', '.spec.date'),
  column('Age', 'date', '.metadata.creationTimestamp'),
  column('Hidden', 'string', '.spec.text', { priority: 1 }),
  column('Missing', 'string', '.spec.missing'),
  column('First', 'string', '.spec.list[0]'),
  column('Last', 'string', '.spec.list[-1:]'),
  column('All', 'string', '.spec.list[*]'),
  column('Slice', 'string', '.spec.list[0:2]'),
  column('Ready', 'string', '.spec.conditions[?(@.type=="Ready")].status'),
  column('Names', 'string', '.spec.conditions[*].type'),
  column('Quoted', 'string', ".spec['text']"),
  column('Dotted', 'string', '.metadata.labels.example\\.com/name'),
  column('Deep', 'string', '..inner'),
  column('Object', 'string', '.spec.object'),
  column('List', 'string', '.spec.list'),
  column('AsText', 'string', '.spec.whole'),
  column('AsWhole', 'integer', '.spec.text'),
  column('AsFlag', 'boolean', '.spec.text'),
  column('AsNumber', 'number', '.spec.whole'),
  column('AsDate', 'date', '.spec.text'),
  column('Fraction', 'integer', '.spec.number'),
  column('Name', 'string', '.metadata.name', { format: 'password' }),
]

const widgets = widgetsOf('tables.example.com')
const everyType: Scenario = {
  name: 'columns of every type',
  definitions: [
    definition(widgets.group, [version(objectSchema({ spec: preserved }), { additionalPrinterColumns: columns })]),
  ],
  steps: [
    widgets.create('full', {
      metadata: { name: 'full', labels: { 'example.com/name': 'labelled' } },
      spec: {
        text: 'a text',
        whole: 5,
        number: 1.5,
        flag: true,
        date: '2020-01-01T00:00:00Z',
        list: ['a', 'b', 'c'],
        conditions: [
          { type: 'Other', status: 'False' },
          { type: 'Ready', status: 'True' },
        ],
        object: { a: 1, inner: 'x' },
      },
    }),
    widgets.create('empty'),
    widgets.create('odd', {
      spec: {
        text: 5,
        whole: 'text',
        number: 'x',
        flag: 'yes',
        date: 'never',
        list: [],
        conditions: [{}],
        object: null,
      },
    }),
    widgets.create('future', {
      spec: { date: '2999-01-01T00:00:00Z', text: '', whole: 0, number: 0, flag: false, list: [1, { a: 'b' }, null] },
    }),
    get(widgets.list, { accept: table }),
    get(`${widgets.list}?includeObject=None`, { accept: table }),
    get(`${widgets.list}?includeObject=Object&fieldSelector=metadata.name%3Dempty`, { accept: table }),
    get(`${widgets.list}?includeObject=Metadata&fieldSelector=metadata.name%3Dempty`, { accept: table }),
    get(`${widgets.list}?includeObject=Nonsense`, { accept: table }),
    get(widgets.path('full'), { accept: table }),
    get(`${widgets.path('full')}?includeObject=None`, { accept: table }),
    get('/apis/tables.example.com/v1/widgets?limit=1&includeObject=None', { accept: table }),
    get(`${widgets.list}?labelSelector=none&includeObject=None`, { accept: table }),
    get(widgets.path('missing'), { accept: table }),
    patch(widgets.path('empty'), mergePatch, { spec: { text: 'x' } }, { accept: table }),
    get(widgets.list, { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1beta1' }),
    get(widgets.list, { accept: 'application/json;as=Nonsense;g=meta.k8s.io;v=v1' }),
    get(widgets.list, { accept: 'application/json;as=Table;g=other;v=v1' }),
    get(widgets.list, { accept: 'application/json;as=Table;g=meta.k8s.io;v=v2,application/json' }),
    get(
      `${widgets.list}?watch=1&resourceVersion=0&includeObject=None&timeoutSeconds=60&fieldSelector=metadata.name%3Dfull`,
      { accept: table, events: 1 },
    ),
    get(
      `${widgets.list}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=60&fieldSelector=metadata.name%3Dfull`,
      { accept: table, events: 2 },
    ),
    remove(widgets.path('future'), undefined, { accept: table }),
  ],
}

const plain = widgetsOf('plaintables.example.com')
const withoutColumns: Scenario = {
  name: 'a definition without columns',
  definitions: [definition(plain.group, [version(objectSchema({}))])],
  steps: [
    plain.create('a'),
    get(plain.list, { accept: table }),
    get(plain.path('a'), { accept: table }),
    get('/apis/plaintables.example.com/v1/widgets?includeObject=None', { accept: table }),
  ],
}

const own = widgetsOf('owntables.example.com')
const ownNames: Scenario = {
  name: 'a definition whose columns have the names of the usual ones',
  definitions: [
    definition(own.group, [
      version(objectSchema({ spec: objectSchema({ a: { type: 'string' } }) }), {
        additionalPrinterColumns: [
          column('Age', 'string', '.spec.a'),
          column('Name', 'string', '.spec.a', { priority: 5 }),
        ],
      }),
      version(objectSchema({ spec: objectSchema({ a: { type: 'string' } }) }), { name: 'v2', storage: false }),
    ]),
  ],
  steps: [
    own.create('a', { spec: { a: 'x' } }),
    get(own.list, { accept: table }),
    get('/apis/owntables.example.com/v2/widgets', { accept: table }),
  ],
}

const metadata = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1'
const metadataList = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1'
const partial = widgetsOf('partial.example.com')
const metadataOnly: Scenario = {
  name: 'responses with metadata only',
  definitions: [definition(partial.group, [version(objectSchema({ spec: preserved }))])],
  steps: [
    partial.create('a', { spec: { x: 1 } }),
    partial.create('b', { spec: { x: 1 } }, { accept: metadata }),
    get(partial.path('a'), { accept: metadata }),
    get(partial.list, { accept: metadataList }),
    get(`${partial.list}?limit=1`, { accept: metadataList }),
    get(partial.list, { accept: metadata }),
    get(partial.path('a'), { accept: metadataList }),
    get(partial.path('missing'), { accept: metadata }),
    patch(partial.path('a'), mergePatch, { metadata: { labels: { a: 'b' } } }, { accept: metadata }),
    get(`${partial.list}?watch=1&resourceVersion=0&timeoutSeconds=60&fieldSelector=metadata.name%3Da`, {
      accept: metadata,
      events: 1,
    }),
    remove(partial.path('a'), undefined, { accept: metadata }),
    get(partial.list, { accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1beta1' }),
  ],
}

export const tables: readonly Scenario[] = [everyType, withoutColumns, ownNames, metadataOnly]
