// Integers beyond 2^53, which a double does not represent: in custom objects with and without a schema, their defaults,
// rules, patches, applies and Tables, and in fields of built-in kinds and JSON inside them.
import {
  definition,
  definitionsPath,
  get,
  jsonPatch,
  mergePatch,
  objectSchema,
  patch,
  post,
  remove,
  version,
  widgetsOf,
  type Scenario,
  type Step,
} from '../scenario.ts'

/** Missing in TypeScript's library: JSON.stringify writes the text as it is. */
const { rawJSON: integer } = JSON as unknown as { rawJSON(text: string): unknown }

const odd = integer('9007199254740993')
const next = integer('9007199254740995')
const largest = integer('9223372036854775807')
const smallest = integer('-9223372036854775808')
const tooLarge = integer('9223372036854775808')

const { group, list, path, create, replace, apply } = widgetsOf('integers.example.com')
const strategicPatch = 'application/strategic-merge-patch+json'
const asTable = 'application/json;as=Table;g=meta.k8s.io;v=v1'

const long = { type: 'integer', format: 'int64' }
const columns = [
  { name: 'Count', type: 'integer', jsonPath: '.spec.count' },
  { name: 'Ratio', type: 'number', jsonPath: '.spec.ratio' },
  { name: 'Text', type: 'string', jsonPath: '.spec.count' },
]
const schema = objectSchema({
  spec: objectSchema({
    count: long,
    plain: { type: 'integer' },
    small: { type: 'integer', format: 'int32' },
    ratio: { type: 'number' },
    either: { 'x-kubernetes-int-or-string': true },
    defaulted: { ...long, default: odd },
    chosen: { ...long, enum: [odd, 1] },
    most: { ...long, maximum: odd },
    least: { ...long, minimum: 9_007_199_254_740_996 },
    less: { ...long, maximum: 9_007_199_254_740_994, exclusiveMaximum: true },
    thirds: { ...long, multipleOf: 3 },
    halves: { type: 'number', multipleOf: 0.5 },
    ids: { type: 'array', items: long, 'x-kubernetes-list-type': 'set' },
    ports: {
      type: 'array',
      items: objectSchema({ id: long, name: { type: 'string' } }, { required: ['id'] }),
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['id'],
    },
    any: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  }),
})

const custom: Scenario = {
  name: 'integers beyond 2^53 in custom objects',
  definitions: [definition(group, [version(schema, { additionalPrinterColumns: columns })])],
  steps: [
    get(`${definitionsPath}/widgets.${group}`, { view: (body) => body.spec.versions[0].schema }),
    create('a', { spec: { count: odd, plain: largest, ratio: odd, either: smallest, chosen: odd } }),
    create('b', { spec: { count: smallest, any: { a: odd, b: [largest, tooLarge], c: integer('1.0'), d: 1e21 } } }),
    create('c', { spec: { count: tooLarge } }),
    create('c', { spec: { plain: tooLarge } }),
    create('c', { spec: { small: odd } }),
    create('c', { spec: { either: tooLarge } }),
    create('c', { spec: { chosen: next } }),
    create('c', { spec: { most: next } }),
    create('c', { spec: { most: odd } }),
    create('d', { spec: { most: integer('9007199254740992') } }),
    create('e', { spec: { least: next } }),
    create('e', { spec: { least: integer('9007199254740997') } }),
    create('f', { spec: { less: odd } }),
    create('g', { spec: { less: integer('9007199254740994') } }),
    create('g', { spec: { thirds: next } }),
    create('g', { spec: { thirds: integer('9007199254740996') } }),
    create('h', { spec: { halves: odd } }),
    create('i', { spec: { ids: [odd, next, 1, odd] } }),
    create('i', { spec: { ids: [odd, next, 1] } }),
    create('j', { spec: { ports: [{ id: odd }, { id: next }, { id: odd }] } }),
    create('k', { spec: { count: integer('9007199254740993.0') } }),
    create('l', { spec: { count: integer('1e17') } }),
    create('m', { spec: { count: integer('1e3'), ratio: integer('1e3') } }),
    get(path('a')),
    get(path('a'), { accept: asTable }),
    get(list, { accept: asTable, view: (body) => body.rows.map((row: { cells: unknown }) => row.cells) }),
    patch(path('a'), mergePatch, { spec: { count: next } }),
    patch(path('a'), mergePatch, { spec: { count: next } }),
    patch(path('a'), jsonPatch, [{ op: 'test', path: '/spec/count', value: next }]),
    patch(path('a'), jsonPatch, [{ op: 'test', path: '/spec/count', value: odd }]),
    patch(path('a'), jsonPatch, [
      { op: 'copy', from: '/spec/count', path: '/spec/plain' },
      { op: 'add', path: '/spec/any', value: { x: odd } },
    ]),
    ...replace('a', { spec: { count: odd, any: { x: next } } }),
    apply('one', 'z', { spec: { count: odd, ids: [odd, next], ports: [{ id: odd, name: 'a' }], any: { x: odd } } }),
    apply('two', 'z', { spec: { count: next } }),
    apply('two', 'z', { spec: { count: odd, ids: [next, largest], ports: [{ id: next, name: 'b' }] } }),
    apply('one', 'z', { spec: { ports: [{ id: odd, name: 'a' }] } }),
    patch(path('z'), 'application/apply-patch+yaml', `{"apiVersion":"${group}/v1"}`),
    post(
      list,
      `apiVersion: ${group}/v1\nkind: Widget\nmetadata:\n  name: yaml\nspec:\n  count: 9007199254740993\n  plain: 0x20000000000001\n`,
      { contentType: 'application/yaml' },
    ),
    get(`${list}?watch=1&resourceVersion=0&timeoutSeconds=60&fieldSelector=metadata.name%3Dyaml`, { events: 1 }),
  ],
}

const rulesGroup = 'longrules.example.com'
const rules = widgetsOf(rulesGroup)
const withRule = (rule: string, messageExpression?: string) => ({
  ...long,
  'x-kubernetes-validations': [{ rule, ...(messageExpression === undefined ? {} : { messageExpression }) }],
})

const expressions: Scenario = {
  name: 'integers beyond 2^53 in rules',
  definitions: [
    definition(rulesGroup, [
      version(
        objectSchema({
          spec: objectSchema({
            equal: withRule('self == 9007199254740993'),
            above: withRule('self > 9007199254740993', "self == 9007199254740993 ? 'got it' : 'another'"),
            sum: withRule('self + 1 == 9223372036854775807'),
            either: {
              'x-kubernetes-int-or-string': true,
              'x-kubernetes-validations': [{ rule: 'self == 9007199254740993' }],
            },
            ratio: { type: 'number', 'x-kubernetes-validations': [{ rule: 'self == 9007199254740992.0' }] },
            kept: withRule('self == oldSelf'),
          }),
        }),
      ),
    ]),
  ],
  steps: [
    rules.create('a', {
      spec: { equal: odd, above: next, sum: integer('9223372036854775806'), either: odd, ratio: odd },
    }),
    rules.create('b', { spec: { equal: integer('9007199254740992') } }),
    rules.create('b', { spec: { above: odd } }),
    rules.create('b', { spec: { sum: largest } }),
    rules.create('b', { spec: { either: next } }),
    rules.create('b', { spec: { kept: odd } }),
    patch(rules.path('b'), mergePatch, { spec: { kept: integer('9007199254740992') } }),
  ],
}

const namespaced = (plural: string, name = '', root = '/apis/apps/v1') =>
  `${root}/namespaces/default/${plural}${name === '' ? '' : `/${name}`}`
const revisions = namespaced('controllerrevisions')
const revision = (name: string, more: object) => ({ metadata: { name }, ...more })
/** Without the owners of the fields of the data. */
const contentOf = ({ revision: number, data }: { revision: unknown; data: unknown }) => ({ revision: number, data })
const pods = namespaced('pods', '', '/api/v1')
const pod = (name: string, spec: object) => ({
  metadata: { name },
  spec: {
    containers: [{ name: 'c', image: 'i' }],
    serviceAccountName: 'integers',
    automountServiceAccountToken: false,
    ...spec,
  },
})
const jobs = namespaced('jobs', '', '/apis/batch/v1')
const job = (name: string, spec: object) => ({
  metadata: { name },
  spec: {
    suspend: true,
    template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } },
    ...spec,
  },
})
const deployments = namespaced('deployments')
const deployment = (name: string, spec: object) => ({
  metadata: { name },
  spec: {
    selector: { matchLabels: { a: 'b' } },
    template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    ...spec,
  },
})
const configMaps = namespaced('configmaps', '', '/api/v1')
const accounts = namespaced('serviceaccounts', '', '/api/v1')
const dry = (url: string) => `${url}?dryRun=All`
const prepared = (step: Step): Step => ({ ...step, isPreparation: true })

const builtIn: Scenario = {
  name: 'integers beyond 2^53 in built-in kinds',
  definitions: [],
  steps: [
    prepared(post(accounts, { metadata: { name: 'integers' } })),
    post(revisions, revision('long', { revision: odd, data: { b: odd, a: [largest, smallest, 1], c: { d: next } } }), {
      view: contentOf,
    }),
    get(`${revisions}/long`, { view: contentOf }),
    get(`${revisions}/long`, { accept: asTable, view: (body) => body.rows[0].cells }),
    patch(`${revisions}/long`, mergePatch, { revision: next }, { view: contentOf }),
    patch(`${revisions}/long`, jsonPatch, [{ op: 'replace', path: '/revision', value: odd }], { view: contentOf }),
    patch(`${revisions}/long?fieldManager=m`, 'application/apply-patch+yaml', {
      apiVersion: 'apps/v1',
      kind: 'ControllerRevision',
      metadata: { name: 'long' },
      revision: next,
    }),
    post(dry(revisions), revision('bad', { revision: tooLarge })),
    post(dry(revisions), revision('bad', { revision: integer('1.5') })),
    post(dry(revisions), revision('bad', { revision: '1' })),
    prepared(remove(`${revisions}/long`)),
    // Upstream rounds the data of a revision in a strategic patch, and then rejects its change.
    prepared(post(revisions, revision('short', { revision: 1, data: {} }))),
    patch(`${revisions}/short`, strategicPatch, { revision: largest }, { view: contentOf }),
    prepared(remove(`${revisions}/short`)),
    ...[
      { terminationGracePeriodSeconds: odd },
      { activeDeadlineSeconds: odd },
      { securityContext: { runAsUser: odd } },
      { securityContext: { runAsGroup: odd, fsGroup: odd, supplementalGroups: [odd] } },
      { containers: [{ name: 'c', image: 'i', securityContext: { runAsUser: odd, runAsGroup: smallest } }] },
      { priority: odd },
      { tolerations: [{ key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: odd }] },
      {
        containers: [
          { name: 'c', image: 'i', livenessProbe: { exec: { command: ['a'] }, terminationGracePeriodSeconds: odd } },
        ],
      },
      {
        containers: [{ name: 'c', image: 'i', lifecycle: { preStop: { sleep: { seconds: odd } } } }],
      },
      {
        volumes: [
          { name: 'v', projected: { sources: [{ serviceAccountToken: { path: 'p', expirationSeconds: odd } }] } },
        ],
      },
      { containers: [{ name: 'c', image: 'i', resources: { requests: { memory: odd } } }] },
      { containers: [{ name: 'c', image: 'i', ports: [{ containerPort: odd }] }] },
      { containers: [{ name: 'c', image: 'i', livenessProbe: { tcpSocket: { port: odd } } }] },
    ].map((spec) => post(dry(pods), pod('p', spec))),
    post(dry(jobs), job('j', { activeDeadlineSeconds: odd })),
    post(dry(jobs), job('j', { activeDeadlineSeconds: smallest })),
    post(dry(namespaced('cronjobs', '', '/apis/batch/v1')), {
      metadata: { name: 'c' },
      spec: {
        schedule: '* * * * *',
        startingDeadlineSeconds: largest,
        jobTemplate: {
          spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } } },
        },
      },
    }),
    post(dry(deployments), deployment('d', { replicas: odd })),
    post(dry(deployments), deployment('d', { strategy: { rollingUpdate: { maxSurge: odd } } })),
    post(dry(configMaps), { metadata: { name: 'm', generation: odd } }),
    post(dry(deployments), { ...deployment('d', {}), metadata: { name: 'd', generation: odd } }),
    post(dry(configMaps), { metadata: { name: 'm' }, data: { a: odd } }),
    prepared(post(configMaps, { metadata: { name: 'm' } })),
    remove(`${configMaps}/m`, { kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds: odd, dryRun: ['All'] }),
    remove(`${configMaps}/m`, {
      kind: 'DeleteOptions',
      apiVersion: 'v1',
      gracePeriodSeconds: tooLarge,
      dryRun: ['All'],
    }),
    remove(`${configMaps}/m?dryRun=All&gracePeriodSeconds=9007199254740993`),
    remove(`${configMaps}/m?dryRun=All&gracePeriodSeconds=9223372036854775808`),
    prepared(remove(`${configMaps}/m`)),
    post(`${accounts}/integers/token`, { spec: { expirationSeconds: odd } }),
    post(`${accounts}/integers/token`, { spec: { expirationSeconds: smallest } }),
    post('/api/v1/nodes?dryRun=All', {
      metadata: { name: 'n' },
      status: { images: [{ names: ['a'], sizeBytes: odd }] },
    }),
    post(dry(namespaced('resourceclaims', '', '/apis/resource.k8s.io/v1')), {
      metadata: { name: 'r' },
      spec: {
        devices: {
          requests: [{ name: 'a', exactly: { deviceClassName: 'c', count: odd } }],
          config: [
            { opaque: { driver: 'd.example.com', parameters: { kind: 'X', apiVersion: 'a/v1', b: odd, a: next } } },
          ],
        },
      },
    }),
    prepared(remove(`${accounts}/integers`)),
  ],
}

export const integers: readonly Scenario[] = [custom, expressions, builtIn]
