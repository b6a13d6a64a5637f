// Changes of definitions that have been established: versions, scope, names, stored versions.
import { isSettled } from '../run-scenario.ts'
import {
  definition,
  definitionsPath,
  get,
  jsonPatch,
  mergePatch,
  objectSchema,
  patch,
  put,
  version,
  widgetNames,
  type Definition,
  type Scenario,
  type Step,
} from '../scenario.ts'

const schema = objectSchema({ spec: objectSchema({ size: { type: 'integer' } }) })
const group = 'updates.example.com'
const path = `${definitionsPath}/widgets.${group}`
const v1 = version(schema)
const old = (more: object = {}) => version(schema, { name: 'v1beta1', storage: false, ...more })

const current = (changed: Definition): object => ({
  ...changed,
  metadata: { ...changed.metadata, resourceVersion: '{{now.metadata.resourceVersion}}' },
})
/** Reads the definition, then replaces it. */
const replace = (changed: Definition): Step[] => [
  get(path, { label: 'now', isPreparation: true, until: isSettled }),
  put(path, current(changed)),
]

const versions: Scenario = {
  name: 'versions are added, stored and removed',
  definitions: [definition(group, [v1, old()])],
  steps: [
    put(path, definition(group, [v1])),
    ...replace(definition(group, [version(schema, { storage: false }), old({ storage: true })])),
    get(path, { until: ({ body }) => body.status.storedVersions.length === 2 }),
    ...replace(definition(group, [old({ storage: true })])),
    patch(`${path}/status`, mergePatch, { status: { storedVersions: ['v1beta1'] } }),
    ...replace(definition(group, [old({ storage: true })])),
    get('/apis/updates.example.com/v1/widgets', { until: ({ status }) => status === 404 }),
    ...replace(definition(group, [old({ storage: true, served: false })])),
    get('/apis/updates.example.com/v1beta1/widgets', { until: ({ status }) => status === 404 }),
    get('/apis/updates.example.com', { until: ({ status }) => status === 404 }),
    ...replace(definition(group, [v1, old()])),
    get('/apis/updates.example.com/v1beta1/widgets', { until: ({ status }) => status === 200 }),
    get('/apis/updates.example.com', { until: ({ status, body }) => status === 200 && body.versions.length === 2 }),
  ],
}

const immutable: Scenario = {
  name: 'fields of an established definition that cannot change',
  definitions: [definition(group, [v1])],
  steps: [
    ...replace(definition(group, [v1], { scope: 'Cluster' })),
    ...replace(definition(group, [v1], { group: 'other.example.com' })),
    ...replace(definition(group, [v1], { names: { ...widgetNames, kind: 'Gadget' } })),
    ...replace(definition(group, [v1], { names: { ...widgetNames, plural: 'gadgets' } })),
    ...replace(definition(group, [v1], { names: { ...widgetNames, listKind: 'Widgets', singular: 'one' } })),
    ...replace(definition(group, [v1], { names: { ...widgetNames, shortNames: ['x'] } })),
    patch(path, mergePatch, { metadata: { name: 'other' } }),
    patch(path, mergePatch, { metadata: { uid: '6b8ae0a2-2b8b-4d8e-9d64-000000000000' } }),
    patch(path, mergePatch, { metadata: { resourceVersion: '1' } }),
    patch(path, mergePatch, { spec: { versions: [] } }),
    patch(path, mergePatch, { spec: { preserveUnknownFields: true } }),
    patch(path, mergePatch, { spec: { conversion: { strategy: 'Webhook' } } }),
    patch(path, jsonPatch, [{ op: 'replace', path: '/spec/versions/0/schema', value: null }]),
    patch(path, jsonPatch, [{ op: 'replace', path: '/spec/versions/0/name', value: 'v2' }]),
    patch(path, jsonPatch, [{ op: 'remove', path: '/spec/nonsense' }]),
    patch(path, jsonPatch, [{ op: 'add', path: '/spec/versions/0/schema/openAPIV3Schema/properties/a', value: {} }]),
    patch(path, 'application/strategic-merge-patch+json', { metadata: { labels: { a: 'b' } } }),
    patch(path, mergePatch, { metadata: { generation: 9 } }),
    patch(path, mergePatch, { spec: { conversion: null } }),
    put(`${path}/status`, { ...definition(group, [v1], { scope: 'Cluster' }), status: {} }),
    patch(`${path}/scale`, mergePatch, {}),
  ],
}

const tightened: Scenario = {
  name: 'errors that a definition already had do not block its update',
  definitions: [definition(group, [version(objectSchema({ a: { type: 'string', default: 'x' } }))])],
  steps: [
    patch(path, jsonPatch, [
      {
        op: 'add',
        path: '/spec/versions/0/schema/openAPIV3Schema/properties/b',
        value: { type: 'string', default: 1 },
      },
    ]),
    patch(path, jsonPatch, [
      {
        op: 'add',
        path: '/spec/versions/0/schema/openAPIV3Schema/properties/b',
        value: { type: 'string', 'x-kubernetes-validations': [{ rule: 'self.nonsense' }] },
      },
    ]),
    patch(path, jsonPatch, [
      {
        op: 'add',
        path: '/spec/versions/0/schema/openAPIV3Schema/properties/b',
        value: { type: 'string', format: 'nonsense' },
      },
    ]),
    patch(path, mergePatch, { metadata: { annotations: { a: 'b' } } }),
  ],
}

export const definitionUpdates: readonly Scenario[] = [versions, immutable, tightened]
