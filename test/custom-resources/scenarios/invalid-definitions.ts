// Definitions that are rejected for their names, versions, conversion, columns, subresources and selectable fields.
import {
  definition,
  definitionsPath,
  objectSchema,
  post,
  tryDefinition,
  version,
  widgetNames,
  type DefinitionSpec,
  type DefinitionVersion,
  type Scenario,
  type Step,
} from '../scenario.ts'

const group = 'invalid.example.com'
const schema = objectSchema({
  spec: objectSchema({
    size: { type: 'integer' },
    name: { type: 'string' },
    on: { type: 'boolean' },
    list: { type: 'array', items: { type: 'string' } },
    map: { type: 'object', additionalProperties: { type: 'string' } },
    inner: objectSchema({ color: { type: 'string' } }),
  }),
  status: objectSchema({ replicas: { type: 'integer' } }),
})
const with_ = (spec: Partial<DefinitionSpec>): Step => tryDefinition(definition(group, [version(schema)], spec))
const names = (more: object): Step => with_({ names: { ...widgetNames, ...more } })
const versions = (...list: readonly Partial<DefinitionVersion>[]): Step =>
  tryDefinition(
    definition(
      group,
      list.map((each) => version(schema, each)),
    ),
  )
const named = (name: string, more: object = {}): Step =>
  tryDefinition({ ...definition(group, [version(schema)]), metadata: { name, ...more } })
const spec = (value: unknown): Step => tryDefinition({ ...definition(group, []), spec: value })

const ofNames: Scenario = {
  name: 'invalid names of definitions',
  definitions: [],
  steps: [
    named('gadgets.invalid.example.com'),
    named('Widgets.invalid.example.com'),
    named(''),
    named('widgets.invalid.example.com', { namespace: 'default' }),
    named('widgets.invalid.example.com', { labels: { 'a b': 'c d' }, annotations: { 'x y': '' } }),
    named('widgets.invalid.example.com', { finalizers: ['nonsense', 'a/b/c'] }),
    names({ plural: '' }),
    names({ plural: 'Widgets' }),
    names({ plural: 'wid.gets' }),
    names({ plural: '-widgets' }),
    names({ singular: 'Widget' }),
    names({ singular: 'wid_get' }),
    names({ kind: '' }),
    names({ kind: 'wid_get' }),
    names({ kind: 'Wid.get' }),
    names({ kind: '1Widget' }),
    names({ listKind: 'Widget' }),
    names({ listKind: 'Widget_List' }),
    names({ shortNames: ['WD', 'w d', ''] }),
    names({ shortNames: ['wd', 'wd'] }),
    names({ categories: ['All', 'a_b', ''] }),
    names({ kind: 'k'.repeat(64), listKind: 'l'.repeat(64) }),
    names({ plural: 'w'.repeat(64) }),
    with_({ group: '' }),
    with_({ group: 'Example.com' }),
    with_({ group: 'example' }),
    with_({ group: 'under_score.example.com' }),
    with_({ group: `${'a'.repeat(64)}.example.com` }),
    with_({ scope: '' }),
    with_({ scope: 'Namespace' }),
    with_({ scope: 'cluster' }),
    spec({}),
    spec({ group, scope: 'Namespaced', names: {}, versions: [] }),
    tryDefinition({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'a.b' },
    }),
    tryDefinition({
      apiVersion: 'apiextensions.k8s.io/v1beta1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'a.b' },
    }),
    tryDefinition({ apiVersion: 'apiextensions.k8s.io/v1', kind: 'Other', metadata: { name: 'a.b' } }),
    post(
      definitionsPath,
      '{"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1","metadata":{"name":1}}',
    ),
    post(
      definitionsPath,
      '{"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1","spec":{"versions":{}}}',
    ),
  ],
}

const ofVersions: Scenario = {
  name: 'invalid versions of definitions',
  definitions: [],
  steps: [
    versions(),
    versions({ name: '' }),
    versions({ name: 'V1' }),
    versions({ name: 'v1.1' }),
    versions({ name: '1v' }),
    versions({ storage: false }),
    versions({}, { name: 'v2' }),
    versions({}, { storage: false }),
    versions({}, { name: 'v2', storage: false }, { name: 'v2', storage: false }),
    versions({ served: false }),
    versions({ deprecationWarning: 'no longer' }),
    versions({ deprecated: true, deprecationWarning: '' }),
    versions({ deprecated: true, deprecationWarning: 'a'.repeat(257) }),
    versions({ deprecated: true, deprecationWarning: 'two\nlines' }),
    tryDefinition(definition(group, [{ name: 'v1', served: true, storage: true }])),
    tryDefinition(definition(group, [{ name: 'v1', served: true, storage: true, schema: {} }])),
    tryDefinition(
      definition(group, [
        { name: 'v1', served: true, storage: true },
        { name: 'v2', served: true, storage: false },
      ]),
    ),
    with_({ preserveUnknownFields: true }),
    tryDefinition(
      definition(group, [version({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true })], {
        preserveUnknownFields: true,
      }),
    ),
  ],
}

const webhook = (more: object, url = 'https://example.com/convert'): Step =>
  with_({
    conversion: { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v1'], clientConfig: { url }, ...more } },
  })
const service = (more: object): Step =>
  webhook({ clientConfig: { service: { namespace: 'default', name: 'converter', ...more } } })

const ofConversion: Scenario = {
  name: 'invalid conversion of definitions',
  definitions: [],
  steps: [
    with_({ conversion: {} }),
    with_({ conversion: { strategy: '' } }),
    with_({ conversion: { strategy: 'Other' } }),
    with_({ conversion: { strategy: 'None', webhook: { conversionReviewVersions: ['v1'] } } }),
    with_({ conversion: { strategy: 'Webhook' } }),
    with_({ conversion: { strategy: 'Webhook', webhook: {} } }),
    with_({ conversion: { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v1'] } } }),
    webhook({}),
    webhook({ conversionReviewVersions: [] }),
    webhook({ conversionReviewVersions: ['v2'] }),
    webhook({ conversionReviewVersions: ['v2', 'v1'] }),
    webhook({ conversionReviewVersions: ['v1beta1'] }),
    webhook({ conversionReviewVersions: ['v1', 'v1'] }),
    webhook({ conversionReviewVersions: ['V 1', ''] }),
    webhook({}, 'http://example.com/'),
    webhook({}, 'https://user:secret@example.com/?a=b#c'),
    webhook({}, 'nonsense'),
    webhook({}, ''),
    webhook({ clientConfig: {} }),
    webhook({ clientConfig: { url: 'https://example.com', service: { namespace: 'default', name: 'a' } } }),
    webhook({ clientConfig: { url: 'https://example.com', caBundle: 'bm9uc2Vuc2U=' } }),
    webhook({ clientConfig: { url: 'https://example.com', caBundle: 'not base64' } }),
    service({}),
    service({ namespace: '' }),
    service({ name: '' }),
    service({ path: 'a' }),
    service({ path: '/a//b' }),
    service({ path: '/a/b_c/' }),
    service({ port: 0 }),
    service({ port: 65536 }),
  ],
}

const column = (more: object): Step =>
  versions({ additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size', ...more }] })

const ofColumns: Scenario = {
  name: 'invalid columns of definitions',
  definitions: [],
  steps: [
    column({ name: '' }),
    column({ type: '' }),
    column({ type: 'object' }),
    column({ jsonPath: '' }),
    column({ jsonPath: 'spec.size' }),
    column({ jsonPath: '.spec[' }),
    column({ jsonPath: '.spec[?(@.a]' }),
    column({ jsonPath: '{.spec.size}' }),
    column({ jsonPath: '.spec.list[*]' }),
    column({ jsonPath: '.spec.conditions[?(@.type=="Ready")].status' }),
    column({ jsonPath: '..name' }),
    column({ format: 'nonsense' }),
    column({ format: 'int64' }),
    column({ format: 'name' }),
    column({ priority: -1 }),
    column({ priority: 1 }),
    versions({
      additionalPrinterColumns: [
        { name: 'A', type: 'string', jsonPath: '.spec.name' },
        { name: 'A', type: 'string', jsonPath: '.spec.name' },
      ],
    }),
    versions({ additionalPrinterColumns: [] }),
    versions({ additionalPrinterColumns: [{ name: '', type: '', jsonPath: '' }] }),
  ],
}

const scale = (more: object): Step =>
  versions({
    subresources: { scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.replicas', ...more } },
  })

const ofSubresources: Scenario = {
  name: 'invalid subresources of definitions',
  definitions: [],
  steps: [
    scale({}),
    scale({ specReplicasPath: '' }),
    scale({ statusReplicasPath: '' }),
    scale({ specReplicasPath: '.status.size' }),
    scale({ statusReplicasPath: '.spec.size' }),
    scale({ specReplicasPath: 'spec.size' }),
    scale({ specReplicasPath: '.spec.list[0]' }),
    scale({ specReplicasPath: '.spec' }),
    scale({ labelSelectorPath: '.metadata.labels' }),
    scale({ labelSelectorPath: '.status.selector' }),
    scale({ labelSelectorPath: '.spec.selector' }),
    scale({ labelSelectorPath: '.status.list[0]' }),
    versions({ subresources: { scale: {} } }),
    versions({ subresources: { status: { a: 1 } } }),
  ],
}

const selectable = (...paths: readonly string[]): Step =>
  versions({ selectableFields: paths.map((jsonPath) => ({ jsonPath })) })

const ofSelectableFields: Scenario = {
  name: 'invalid selectable fields of definitions',
  definitions: [],
  steps: [
    selectable('.spec.size', '.spec.name', '.spec.on', '.spec.inner.color'),
    selectable(),
    selectable(''),
    selectable('spec.size'),
    selectable('.spec.missing'),
    selectable('.spec'),
    selectable('.spec.list'),
    selectable('.spec.list[0]'),
    selectable('.spec.list[*]'),
    selectable('.spec.map'),
    selectable('.spec.map.key'),
    selectable('.metadata.name'),
    selectable('.metadata.labels'),
    selectable('.kind'),
    selectable('.spec.size', '.spec.size'),
    selectable('.spec.size', '.spec.name', '.spec.missing', '.metadata.name'),
    selectable(...Array.from({ length: 9 }, (_, index) => `.spec.f${index}`)),
    selectable('.spec["size"]'),
    selectable('..size'),
    selectable('.spec.size '),
  ],
}

export const invalidDefinitions: readonly Scenario[] = [
  ofNames,
  ofVersions,
  ofConversion,
  ofColumns,
  ofSubresources,
  ofSelectableFields,
]
