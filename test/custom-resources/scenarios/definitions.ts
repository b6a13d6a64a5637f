// Definitions that are accepted: defaults, conditions, names that conflict, status, and reading them.
import { isEstablished } from '../run-scenario.ts'
import {
  applyPatch,
  createDefinition,
  definition,
  definitionsPath,
  get,
  mergePatch,
  objectSchema,
  patch,
  put,
  remove,
  tryDefinition,
  version,
  widgetNames,
  type Response,
  type Scenario,
} from '../scenario.ts'

const schema = objectSchema({ spec: objectSchema({ size: { type: 'integer' } }) })
const minimal = (group: string, names: object) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `gadgets.${group}` },
  spec: { group, scope: 'Namespaced', names, versions: [version(schema)] },
})

interface Condition {
  readonly type: string
  readonly status: string
  readonly reason: string
}
const hasCondition =
  (type: string, status: string) =>
  ({ body }: Response): boolean =>
    ((body.status?.conditions ?? []) as Condition[]).some((each) => each.type === type && each.status === status)

const isJudged = (response: Response): boolean =>
  isEstablished(response) && response.body.status.conditions.length === 3

const life: Scenario = {
  name: 'a definition from its creation to its deletion',
  definitions: [],
  steps: [
    createDefinition(definition('life.example.com', [version(schema)])),
    createDefinition(definition('life.example.com', [version(schema)])),
    get(`${definitionsPath}/widgets.life.example.com`, { until: isEstablished }),
    get(`${definitionsPath}/widgets.life.example.com/status`),
    get(`${definitionsPath}/missing.life.example.com`),
    get(`${definitionsPath}?fieldSelector=metadata.name%3Dwidgets.life.example.com`),
    get(`${definitionsPath}?fieldSelector=metadata.name%3Dwidgets.life.example.com`, {
      accept: 'application/json;as=Table;g=meta.k8s.io;v=v1,application/json',
    }),
    get(`${definitionsPath}?fieldSelector=metadata.name%3Dwidgets.life.example.com`, {
      accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1',
    }),
    get(`${definitionsPath}?fieldSelector=spec.group%3Dlife.example.com`),
    patch(`${definitionsPath}/widgets.life.example.com`, mergePatch, { metadata: { labels: { a: 'b' } } }),
    patch(`${definitionsPath}/widgets.life.example.com`, mergePatch, {
      spec: { names: { shortNames: ['wd'], categories: ['all'] } },
    }),
    get(`${definitionsPath}/widgets.life.example.com`, {
      until: ({ body }) => body.status.acceptedNames.shortNames !== undefined,
    }),
    patch(`${definitionsPath}/widgets.life.example.com/status`, mergePatch, { spec: { scope: 'Cluster' } }),
    patch(`${definitionsPath}/widgets.life.example.com/status`, mergePatch, { status: { storedVersions: [] } }),
    patch(`${definitionsPath}/widgets.life.example.com/status`, mergePatch, { status: { storedVersions: ['v2'] } }),
    patch(`${definitionsPath}/widgets.life.example.com/status`, mergePatch, {
      status: { storedVersions: ['v1', 'v1'] },
    }),
    patch(`${definitionsPath}/widgets.life.example.com`, mergePatch, { status: { storedVersions: ['v3'] } }),
    patch(`${definitionsPath}/widgets.life.example.com?fieldManager=other`, applyPatch, {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'widgets.life.example.com', annotations: { applied: 'yes' } },
    }),
    remove(`${definitionsPath}/widgets.life.example.com?dryRun=All`),
    get('/apis/life.example.com/v1/widgets', { until: ({ status }) => status === 200 }),
    remove(`${definitionsPath}/widgets.life.example.com`),
    get(`${definitionsPath}/widgets.life.example.com`, { until: ({ status }) => status === 404 }),
    get('/apis/life.example.com/v1/widgets', { until: ({ status }) => status === 404 }),
  ],
}

const defaults: Scenario = {
  name: 'names and conversion have defaults',
  definitions: [],
  steps: [
    tryDefinition(minimal('defaults.example.com', { plural: 'gadgets', kind: 'GADGET' })),
    tryDefinition(minimal('defaults.example.com', { plural: 'gadgets', kind: 'Gadget', singular: 'other' })),
    tryDefinition(
      definition('defaults.example.com', [version(schema)], {
        conversion: {
          strategy: 'Webhook',
          webhook: {
            conversionReviewVersions: ['v1'],
            clientConfig: { service: { namespace: 'default', name: 'converter' } },
          },
        },
      }),
    ),
    tryDefinition(definition('defaults.example.com', [version(schema)], { scope: 'Cluster' })),
    tryDefinition(
      definition('defaults.example.com', [
        version(schema, {
          subresources: { status: {}, scale: { specReplicasPath: '.spec.n', statusReplicasPath: '.status.n' } },
          additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }],
        }),
      ]),
    ),
    tryDefinition(
      definition('defaults.example.com', [
        version(schema, { deprecated: true }),
        version(schema, { name: 'v1beta1', storage: false, deprecated: true, deprecationWarning: 'use v1 instead' }),
      ]),
    ),
    tryDefinition(definition('defaults.example.com', [version(schema)], { preserveUnknownFields: false })),
  ],
}

const conflict = (name: string, names: object): Scenario['steps'] => [
  createDefinition({
    ...definition('names.example.com', [version(schema)]),
    metadata: { name },
    spec: { ...definition('names.example.com', [version(schema)]).spec, names },
  }),
  get(`${definitionsPath}/${name}`, { until: hasCondition('NamesAccepted', 'False') }),
  remove(`${definitionsPath}/${name}`),
]

const conflicts: Scenario = {
  name: 'names that another definition has are not accepted',
  definitions: [
    definition('names.example.com', [version(schema)], { names: { ...widgetNames, shortNames: ['wd', 'wdg'] } }),
  ],
  steps: [
    ...conflict('gadgets.names.example.com', { plural: 'gadgets', singular: 'gadget', kind: 'Widget' }),
    ...conflict('tools.names.example.com', { plural: 'tools', singular: 'widget', kind: 'Tool' }),
    ...conflict('parts.names.example.com', {
      plural: 'parts',
      singular: 'part',
      kind: 'Part',
      shortNames: ['pa', 'wd', 'wdg'],
    }),
    ...conflict('items.names.example.com', { plural: 'items', kind: 'Item', listKind: 'WidgetList' }),
    ...conflict('wd.names.example.com', { plural: 'wd', singular: 'w', kind: 'W', listKind: 'Widget' }),
    createDefinition(
      definition('names.example.com', [version(schema)], {
        names: { plural: 'things', kind: 'Widget', listKind: 'Things' },
      }),
      { isPreparation: true },
    ),
    get(`${definitionsPath}/things.names.example.com`, { until: hasCondition('NamesAccepted', 'False') }),
    get('/apis/names.example.com/v1/things'),
    patch(`${definitionsPath}/things.names.example.com`, mergePatch, {
      spec: { names: { kind: 'Thing', singular: 'thing' } },
    }),
    get(`${definitionsPath}/things.names.example.com`, { until: isEstablished }),
    patch(`${definitionsPath}/things.names.example.com`, mergePatch, { spec: { names: { kind: 'Widget' } } }),
    patch(`${definitionsPath}/things.names.example.com`, mergePatch, { spec: { names: { singular: 'widget' } } }),
    get(`${definitionsPath}/things.names.example.com`, { until: hasCondition('NamesAccepted', 'False') }),
    get('/apis/names.example.com/v1', {
      view: (body) => body.resources.map((each: { name: string; kind: string }) => [each.name, each.kind]),
    }),
    remove(`${definitionsPath}/things.names.example.com`),
  ],
}

const approved = (group: string, annotations: object) => ({
  ...definition(group, [version(schema)]),
  metadata: { name: `widgets.${group}`, annotations },
})

const approval: Scenario = {
  name: 'definitions in groups of Kubernetes need an approval',
  definitions: [],
  steps: [
    tryDefinition(approved('kinds.k8s.io', {})),
    tryDefinition(approved('kinds.kubernetes.io', {})),
    tryDefinition(approved('kinds.x-k8s.io', {})),
    tryDefinition(approved('kinds.k8s.io', { 'api-approved.kubernetes.io': 'nonsense' })),
    tryDefinition(approved('kinds.k8s.io', { 'api-approved.kubernetes.io': '' })),
    createDefinition(
      approved('approved.k8s.io', {
        'api-approved.kubernetes.io': 'https://github.com/kubernetes/enhancements/pull/1',
      }),
    ),
    get(`${definitionsPath}/widgets.approved.k8s.io`, { until: isJudged }),
    remove(`${definitionsPath}/widgets.approved.k8s.io`),
    createDefinition(approved('unapproved.k8s.io', { 'api-approved.kubernetes.io': 'unapproved, experimental-only' })),
    get(`${definitionsPath}/widgets.unapproved.k8s.io`, { until: isJudged }),
    put(`${definitionsPath}/widgets.unapproved.k8s.io`, approved('unapproved.k8s.io', {})),
    remove(`${definitionsPath}/widgets.unapproved.k8s.io`),
  ],
}

export const definitions: readonly Scenario[] = [life, defaults, conflicts, approval]
