// Guards over requests: several served versions without a webhook, choices among fields (oneOf, anyOf, not), resources
// of any kind inside an object, and defaults and enumerations at every level.
import { labelSelector } from '../../../src/api/meta/v1/label-selector.ts'
import { choice, column, keyedList, object, text, type Schema } from '../../../src/gateway/definitions/schema-parts.ts'
import { builtInSchema } from './built-in-schema.ts'
import { anything, definitionOf, kindSchema, list, texts, type Project } from './project.ts'

const group = 'guards.example.com'
const textType: Schema = { type: 'string' }
const selector = builtInSchema(labelSelector)

const resources: Schema = {
  ...object({
    ...{ kinds: list(textType), name: textType, names: list(textType), namespaces: list(textType) },
    ...{ annotations: texts, selector, namespaceSelector: selector },
    operations: list(choice('CREATE', 'CONNECT', 'UPDATE', 'DELETE')),
  }),
  not: { required: ['name', 'names'] },
}
const filter: Schema = object({
  resources,
  subjects: list(object({ kind: textType, name: textType, namespace: textType }, ['kind', 'name'])),
  roles: list(textType),
})
const match: Schema = {
  ...object({ any: list(filter), all: list(filter) }),
  not: { required: ['any', 'all'] },
}
const call: Schema = object(
  {
    ...{ urlPath: textType, method: { ...choice('GET', 'POST'), default: 'GET' } },
    data: list(object({ key: textType, value: anything }, ['key', 'value'])),
    service: object({ url: textType, caBundle: textType }, ['url']),
    jmesPath: textType,
  },
  ['urlPath'],
)
const context: Schema = list({
  ...object(
    {
      name: textType,
      configMap: object({ name: textType, namespace: textType }, ['name']),
      apiCall: call,
      variable: object({ value: anything, jmesPath: textType, default: anything }),
    },
    ['name'],
  ),
  oneOf: [{ required: ['configMap'] }, { required: ['apiCall'] }, { required: ['variable'] }],
})
const condition: Schema = object({
  ...{ key: anything, value: anything, message: textType },
  operator: choice('Equals', 'NotEquals', 'In', 'NotIn', 'GreaterThan', 'LessThan'),
})
const conditions: Schema = object({ any: list(condition), all: list(condition) })
const action = { ...choice('Audit', 'Enforce'), default: 'Audit' }

const each = (more: Readonly<Record<string, Schema>>): Schema =>
  list(
    object({ list: textType, order: choice('Ascending', 'Descending'), context, preconditions: conditions, ...more }),
  )
const loop = (levels: number): Schema =>
  each(levels === 0 ? { patch: anything } : { patch: anything, foreach: loop(levels - 1) })

const ruleOf = (levels: number): Schema =>
  object(
    {
      ...{ name: text(63), match, exclude: match, context, preconditions: conditions },
      skipBackground: { type: 'boolean', default: true },
      validate: object({
        ...{ failureAction: action, message: textType, pattern: anything, anyPattern: anything },
        deny: object({ conditions }),
        foreach: loop(levels),
        schemaOf: { type: 'object', 'x-kubernetes-embedded-resource': true, ...anything },
      }),
      mutate: object({ targets: list(object({ context, selector })), foreach: loop(levels), patch: anything }),
      generate: object({
        ...{ apiVersion: textType, kind: textType, name: textType, namespace: textType, data: anything },
        synchronize: { type: 'boolean', default: false },
        clone: object({ name: textType, namespace: textType }),
        foreach: loop(levels),
      }),
    },
    ['name', 'match'],
  )

const spec = (levels: number): Schema =>
  object({
    rules: keyedList(ruleOf(levels), 256, 'name'),
    failurePolicy: { ...choice('Ignore', 'Fail'), default: 'Fail' },
    background: { type: 'boolean', default: true },
    webhookTimeoutSeconds: { type: 'integer', format: 'int32', minimum: 1, maximum: 30, nullable: true },
  })
const status: Schema = object({
  ready: { type: 'boolean' },
  ruleCount: object({ validate: { type: 'integer' }, mutate: { type: 'integer' }, generate: { type: 'integer' } }),
})
const columns = [
  column('Background', '.spec.background', 'boolean'),
  column('Failure policy', '.spec.failurePolicy', 'string', 1),
  column('Ready', '.status.ready', 'boolean'),
  column('Rules', '.status.ruleCount.validate', 'integer', 1),
  column('Age', '.metadata.creationTimestamp', 'date'),
]
const version = (name: string, storage: boolean, levels: number) => ({
  ...{ name, served: true, storage, subresources: { status: {} }, additionalPrinterColumns: columns },
  schema: kindSchema({ spec: spec(levels), status }, ['spec']),
})

const guard = definitionOf(
  group,
  'Guard',
  'Cluster',
  [version('v1', true, 3), version('v1beta1', false, 3), version('v1alpha1', false, 2)],
  { shortNames: ['gd'] },
)
const exemption = definitionOf(group, 'Exemption', 'Namespaced', [
  {
    ...{ name: 'v2', served: true, storage: true },
    schema: kindSchema(
      {
        spec: {
          ...object({
            match,
            exceptions: list(object({ guardName: textType, ruleNames: list(textType) }, ['guardName', 'ruleNames'])),
            ...{ podSecurity: anything, until: { type: 'string', format: 'date-time' } },
          }),
          anyOf: [{ required: ['exceptions'] }, { required: ['podSecurity'] }],
        },
      },
      ['spec'],
    ),
  },
])

const apiVersion = `${group}/v1`
const pods = { any: [{ resources: { kinds: ['Pod'], operations: ['CREATE'] } }] }
const guardObject = (name: string, rule: object, usedVersion = apiVersion) =>
  ({
    apiVersion: usedVersion,
    kind: 'Guard',
    metadata: { name },
    spec: { rules: [{ name: 'a', match: pods, ...rule }] },
  }) as const
const exempt = (name: string, more: object) =>
  ({ apiVersion: `${group}/v2`, kind: 'Exemption', metadata: { name }, spec: { match: pods, ...more } }) as const

export const guards: Project = {
  crds: [exemption, guard],
  samples: [
    { status: 201, object: guardObject('labels', { validate: { pattern: { metadata: { labels: { '?*': 'a' } } } } }) },
    { status: 201, object: guardObject('older', { mutate: { patch: [{ op: 'add' }] } }, `${group}/v1beta1`) },
    { status: 201, object: guardObject('oldest', { generate: { kind: 'Secret', name: 'x' } }, `${group}/v1alpha1`) },
    {
      status: 201,
      object: guardObject('loops', {
        context: [
          { name: 'c', configMap: { name: 'm' } },
          { name: 'd', apiCall: { urlPath: '/api', data: [{ key: 'k', value: [1] }] } },
        ],
        validate: {
          foreach: [{ list: 'a', foreach: [{ list: 'b', foreach: [{ list: 'c', foreach: [{ patch: { x: 1 } }] }] }] }],
          schemaOf: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'embedded' }, data: { any: 'thing' } },
        },
      }),
    },
    { status: 201, object: exempt('until', { podSecurity: [{}], until: '2030-01-01T00:00:00Z' }) },
    {
      status: 422,
      message: `Exemption.guards.example.com "none" is invalid: [<nil>: Invalid value: "": "spec" must validate at least one schema (anyOf), spec.exceptions: Required value]`,
      object: exempt('none', {}),
    },
    {
      status: 422,
      message: `Guard.guards.example.com "names" is invalid: <nil>: Invalid value: "": "spec.rules[0].match.any[0].resources" must not validate the schema (not)`,
      object: guardObject('names', { match: { any: [{ resources: { name: 'a', names: ['b'] } }] } }),
    },
    {
      status: 422,
      message: `Guard.guards.example.com "two" is invalid: <nil>: Invalid value: "": "spec.rules[0].context[0]" must validate one and only one schema (oneOf). Found 2 valid alternatives`,
      object: guardObject('two', {
        context: [{ name: 'c', configMap: { name: 'm' }, variable: { value: 1 } }],
      }),
    },
    {
      status: 400,
      message:
        'Guard in version "v1alpha1" cannot be handled as a Guard: strict decoding error: unknown field "spec.rules[0].mutate.foreach[0].foreach[0].foreach[0].foreach"',
      object: guardObject(
        'deeper',
        { mutate: { foreach: [{ foreach: [{ foreach: [{ foreach: [] }] }] }] } },
        `${group}/v1alpha1`,
      ),
    },
  ],
}
