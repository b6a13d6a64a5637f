// Defaults below the status of new objects: by create, dry run, apply and generateName, in both scopes and in several versions.
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

const conditions = {
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['type'],
  items: objectSchema(
    { type: { type: 'string' }, status: { type: 'string', default: 'Unknown' }, reason: { type: 'string' } },
    { required: ['type'] },
  ),
}
const pending = { type: 'Accepted', status: 'Unknown', reason: 'Pending' }

const gateways = widgetsOf('gateways.example.com')
const gatewaySchema = objectSchema(
  {
    spec: objectSchema({ className: { type: 'string', default: 'shared' } }),
    status: objectSchema(
      {
        conditions: { ...conditions, default: [pending, { type: 'Programmed', reason: 'Pending' }] },
        addresses: { type: 'array', items: { type: 'string' } },
        attached: objectSchema({ count: { type: 'integer', default: 0 }, names: { type: 'string' } }),
      },
      { default: { conditions: [pending] } },
    ),
  },
  { required: ['spec'] },
)
const statusOf = (fields: object = {}) => ({ spec: {}, status: fields })
const path = gateways.path('a')
const byDefault: Scenario = {
  name: 'a status with a default',
  definitions: [definition(gateways.group, [version(gatewaySchema, { subresources: { status: {} } })])],
  steps: [
    post(`${gateways.list}?dryRun=All`, gateways.object('a', { spec: {} })),
    gateways.create('a', { spec: {} }),
    get(path),
    get(`${path}/status`),
    gateways.create('b', statusOf({ addresses: ['sent'], conditions: [] })),
    gateways.create('c', statusOf({ addresses: 7 })),
    gateways.create('n', { spec: {}, status: null }),
    post(gateways.list, { ...gateways.object(''), metadata: { generateName: 'gen-' }, spec: {} }),
    post(`${gateways.list}?dryRun=All`, gateways.object('x', statusOf({ attached: {} }))),
    gateways.create('t', { spec: {}, status: 'text' }),
    gateways.create('l', { spec: {}, status: [] }),
    gateways.apply('one', 'd', { spec: {} }),
    gateways.apply('one', 'e', statusOf({ addresses: ['applied'] })),
    gateways.apply('one', 'e', { spec: { className: 'own' } }),
    ...gateways.replace('a', { spec: { className: 'own' } }),
    ...gateways.replace('a', statusOf({ addresses: ['ignored'] })),
    patch(path, mergePatch, { status: null, spec: { className: 'third' } }),
    patch(`${path}/status`, mergePatch, { status: { attached: {} } }),
    patch(`${path}/status`, mergePatch, { status: { conditions: [{ type: 'Ready' }] } }),
    patch(`${path}/status`, mergePatch, { status: { conditions: null } }),
    patch(`${path}/status`, mergePatch, { status: null }),
    patch(`${path}/status`, jsonPatch, [{ op: 'remove', path: '/status' }]),
    patch(
      `${path}/status?fieldManager=ctl`,
      applyPatch,
      gateways.object('a', { status: { attached: { names: 'x' } } }),
    ),
    get(path, { label: 'now' }),
    put(`${path}/status`, gateways.object('a', { spec: {} }, { resourceVersion: '{{now.metadata.resourceVersion}}' })),
    get(gateways.list),
  ],
}

const nested = widgetsOf('nested-status.example.com')
const nestedSchema = objectSchema({
  spec: objectSchema({ size: { type: 'integer' } }),
  status: objectSchema({
    phase: { type: 'string', default: 'New' },
    observed: objectSchema({ generation: { type: 'integer', default: 0 } }, { default: {} }),
  }),
})
const withoutDefault: Scenario = {
  name: 'defaults below a status that has none',
  definitions: [
    definition(nested.group, [version(nestedSchema, { subresources: { status: {} } })], { scope: 'Cluster' }),
  ],
  steps: [
    post(`${nested.root}/widgets`, nested.object('a')),
    post(`${nested.root}/widgets`, nested.object('b', { status: {} })),
    post(`${nested.root}/widgets`, nested.object('c', { status: { phase: 'Sent' }, spec: { size: 1 } })),
    post(`${nested.root}/widgets?dryRun=All`, nested.object('d', { status: { phase: 'Sent' } })),
    post(`${nested.root}/widgets`, nested.object('e', { status: null })),
    patch(`${nested.root}/widgets/a`, mergePatch, { status: {}, spec: { size: 2 } }),
    patch(`${nested.root}/widgets/a/status`, mergePatch, { status: {} }),
    patch(`${nested.root}/widgets/a/status`, mergePatch, { status: { observed: { generation: 3 }, phase: null } }),
    patch(`${nested.root}/widgets/f?fieldManager=one`, applyPatch, nested.object('f', { status: { phase: 'x' } })),
    patch(`${nested.root}/widgets/f?fieldManager=one`, applyPatch, nested.object('f', { spec: { size: 1 } })),
  ],
}

const required = widgetsOf('required-status.example.com')
const requiredSchema = objectSchema({
  spec: objectSchema({ size: { type: 'integer' } }),
  status: objectSchema(
    { phase: { type: 'string', enum: ['A', 'B'] }, ready: { type: 'boolean', default: false } },
    { required: ['phase'], default: { phase: 'A' } },
  ),
})
const whole = widgetsOf('whole-status.example.com')
const withRequired: Scenario = {
  name: 'a default of the status with required fields, and without the subresource',
  definitions: [
    definition(required.group, [version(requiredSchema, { subresources: { status: {} } })]),
    definition(whole.group, [version(requiredSchema)]),
  ],
  steps: [
    required.create('a'),
    required.create('b', { status: { phase: 'Nonsense' } }),
    required.create('c', { status: { ready: true } }),
    required.create('d', { status: { phase: 'B' } }),
    post(`${required.list}?dryRun=All&fieldValidation=Strict`, required.object('e', { status: { unknown: 1 } })),
    patch(`${required.path('a')}/status`, mergePatch, { status: { phase: null } }),
    patch(`${required.path('a')}/status`, mergePatch, { status: { phase: 'B' } }),
    patch(`${required.path('a')}/status`, mergePatch, { status: null }),
    whole.create('a'),
    whole.create('b', { status: { phase: 'B' } }),
    whole.create('c', { status: { ready: true } }),
    patch(whole.path('b'), mergePatch, { status: null }),
  ],
}

const [first, second] = ['v1', 'v2'].map((name) => widgetsOf('status-versions.example.com', name)) as [
  ReturnType<typeof widgetsOf>,
  ReturnType<typeof widgetsOf>,
]
const phaseSchema = (phase: string, own: string) =>
  objectSchema({
    spec: objectSchema({ size: { type: 'integer' } }),
    status: objectSchema(
      { phase: { type: 'string', default: phase }, [own]: { type: 'string', default: own } },
      { default: {} },
    ),
  })
const inVersions: Scenario = {
  name: 'defaults below the status in two versions',
  definitions: [
    definition(first.group, [
      version(phaseSchema('Old', 'one'), { subresources: { status: {} } }),
      version(phaseSchema('New', 'two'), { name: 'v2', storage: false, subresources: { status: {} } }),
    ]),
  ],
  steps: [
    first.create('a', { spec: { size: 1 } }),
    second.create('b', { spec: { size: 1 } }),
    post(`${second.list}?dryRun=All`, second.object('c')),
    get(second.path('a')),
    get(first.path('b')),
    get(second.list),
    second.apply('one', 'd', { spec: { size: 2 } }),
    patch(`${second.path('a')}/status`, mergePatch, { status: { two: 'x' } }),
    patch(`${first.path('a')}/status`, mergePatch, { status: { one: 'x' } }),
    get(second.path('a')),
  ],
}

export const statusDefaulting: readonly Scenario[] = [byDefault, withoutDefault, withRequired, inVersions]
