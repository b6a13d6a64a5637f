// Discovery and OpenAPI of custom kinds.
import {
  definition,
  definitionsPath,
  get,
  jsonPatch,
  objectSchema,
  patch,
  version,
  widgetNames,
  type Response,
  type Scenario,
} from '../scenario.ts'

interface Named {
  readonly name: string
}
interface GroupItem {
  readonly metadata: Named
}

const group = 'discovery.example.com'
const schema = objectSchema(
  {
    spec: objectSchema(
      {
        text: { type: 'string', description: 'A text.', minLength: 1, maxLength: 9, pattern: '^a' },
        whole: { type: 'integer', format: 'int32', minimum: 1, maximum: 5, default: 3 },
        mixed: { 'x-kubernetes-int-or-string': true },
        open: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        any: { 'x-kubernetes-preserve-unknown-fields': true },
        embedded: {
          type: 'object',
          'x-kubernetes-embedded-resource': true,
          'x-kubernetes-preserve-unknown-fields': true,
        },
        list: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['k'],
          items: objectSchema({ k: { type: 'string' } }, { required: ['k'] }),
        },
        map: { type: 'object', additionalProperties: { type: 'string' }, 'x-kubernetes-map-type': 'atomic' },
        choice: { type: 'string', enum: ['a', 'b'], nullable: true },
        ruled: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self > 1', message: 'above one' }] },
        alternatives: { type: 'string', oneOf: [{ pattern: '^a' }, { pattern: '^b' }], not: { enum: ['c'] } },
      },
      { required: ['text'], description: 'The specification.' },
    ),
    status: objectSchema({ replicas: { type: 'integer' } }),
  },
  { description: 'A Widget.' },
)
const subresources = {
  status: {},
  scale: { specReplicasPath: '.spec.whole', statusReplicasPath: '.status.replicas' },
}
const widgets = definition(
  group,
  [
    version(schema, { subresources, selectableFields: [{ jsonPath: '.spec.text' }] }),
    version(objectSchema({}), { name: 'v1beta1', storage: false, deprecated: true }),
    version(objectSchema({}), { name: 'v2alpha1', storage: false }),
    version(objectSchema({}), { name: 'nonsense', storage: false }),
    version(objectSchema({}), { name: 'v10', storage: false }),
  ],
  { names: { ...widgetNames, shortNames: ['wd', 'wdg'], categories: ['all', 'things'] } },
)
const gadgets = definition(group, [version(objectSchema({ data: { type: 'string' } }))], {
  scope: 'Cluster',
  names: { plural: 'gadgets', kind: 'Gadget' },
})

const served = ({ status }: Response) => status === 200
const groupIn = (body: Response['body']) => body.groups?.find((each: Named) => each.name === group)
const itemIn = (body: Response['body']) => body.items?.find((each: GroupItem) => each.metadata.name === group)
const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

const discovery: Scenario = {
  name: 'discovery of a group with two kinds and five versions',
  definitions: [widgets, gadgets],
  steps: [
    get('/apis', { view: groupIn, until: ({ body }) => groupIn(body)?.versions.length === 5 }),
    get(`/apis/${group}`, {
      until: ({ status, body }) => served({ status, body, headers: {} }) && body.versions.length === 5,
    }),
    get(`/apis/${group}/`),
    get(`/apis/${group}/v1`, { until: ({ body }) => body.resources?.length === 4 }),
    get(`/apis/${group}/v1beta1`),
    get(`/apis/${group}/v2`),
    get(`/apis/${group}.nonsense`),
    get('/apis', {
      accept: aggregated,
      view: itemIn,
      until: ({ body }) =>
        itemIn(body)?.versions.length === 5 &&
        itemIn(body).versions.some((each: { resources: object[] }) => each.resources.length === 2),
    }),
    get(`/apis/${group}/v1`, { accept: 'application/yaml' }),
    get(`/apis/${group}/v1/nonsense`),
    get(`/apis/${group}/v1/namespaces/default/gadgets`),
    patch(`${definitionsPath}/gadgets.${group}`, jsonPatch, [
      { op: 'add', path: '/spec/names/shortNames', value: ['gd'] },
    ]),
    get(`/apis/${group}/v1`, { until: ({ body }) => JSON.stringify(body).includes('"gd"') }),
    patch(`${definitionsPath}/widgets.${group}`, jsonPatch, [
      { op: 'replace', path: '/spec/versions/4/served', value: false },
    ]),
    get(`/apis/${group}`, { until: ({ body }) => body.versions.length === 4 }),
    get('/apis', { accept: aggregated, view: itemIn, until: ({ body }) => itemIn(body)?.versions.length === 4 }),
  ],
}

const ownDescriptions = ['A text.', 'A Widget.', 'The specification.']
/** Descriptions of what every kind has are each server's own wording. */
const withoutWording = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutWording)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, each]) =>
      key === 'description' && typeof each === 'string' && !ownDescriptions.includes(each)
        ? []
        : [[key, withoutWording(each)]],
    ),
  )
}

const openGroup = 'openapi.example.com'
const openDefinition = definition(openGroup, [version(schema, { subresources })])
const definitionNames = (body: Response['body']) =>
  Object.keys(body.definitions ?? {}).filter((name) => name.startsWith('com.example.openapi.'))
const openapi: Scenario = {
  name: 'OpenAPI of a group',
  definitions: [openDefinition],
  steps: [
    get('/openapi/v3', {
      accept: 'application/json',
      view: (body) => Object.keys(body.paths).filter((path) => path.includes(openGroup)),
      until: ({ body }) => body.paths?.[`apis/${openGroup}/v1`] !== undefined,
    }),
    get(`/openapi/v3/apis/${openGroup}/v1`, {
      accept: 'application/json',
      until: served,
      view: (body) =>
        withoutWording({ ...body, paths: Object.keys(body.paths), components: Object.keys(body.components.schemas) }),
    }),
    get(`/openapi/v3/apis/${openGroup}/v1`, {
      accept: 'application/json',
      until: served,
      view: ({ components }) =>
        withoutWording(
          Object.fromEntries(
            Object.entries(components.schemas).filter(([name]) => name.startsWith('com.example.openapi.')),
          ),
        ),
    }),
    ...[
      '/namespaces/{namespace}/widgets',
      '/namespaces/{namespace}/widgets/{name}',
      '/namespaces/{namespace}/widgets/{name}/status',
      '/namespaces/{namespace}/widgets/{name}/scale',
      '/widgets',
    ].map((path) =>
      get(`/openapi/v3/apis/${openGroup}/v1`, {
        accept: 'application/json',
        until: served,
        view: ({ paths }) => withoutWording(paths[`/apis/${openGroup}/v1${path}`] ?? null),
      }),
    ),
    get('/openapi/v2', {
      accept: 'application/json',
      until: ({ body }) => definitionNames(body).length === 2,
      view: (body) =>
        withoutWording(Object.fromEntries(definitionNames(body).map((name) => [name, body.definitions[name]]))),
    }),
    get('/openapi/v2', {
      accept: 'application/json',
      view: ({ paths }) => Object.keys(paths).filter((path) => path.includes(openGroup)),
    }),
    get(`/openapi/v3/apis/${openGroup}/v2`),
    patch(`${definitionsPath}/widgets.${openGroup}`, jsonPatch, [
      {
        op: 'replace',
        path: '/spec/versions/0/schema/openAPIV3Schema',
        value: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      },
    ]),
    get(`/openapi/v3/apis/${openGroup}/v1`, {
      accept: 'application/json',
      until: ({ status, body }) =>
        status === 200 && body.components.schemas['com.example.openapi.v1.Widget'].properties?.spec === undefined,
      view: ({ components }) => withoutWording(components.schemas['com.example.openapi.v1.Widget']),
    }),
  ],
}

export const discoveries: readonly Scenario[] = [discovery, openapi]
