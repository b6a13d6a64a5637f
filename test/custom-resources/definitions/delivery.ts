// Deliveries whose generators contain generators, each with a whole template: the largest and deepest definition.
import { labelSelector } from '../../../src/api/meta/v1/label-selector.ts'
import { column, object, type Schema } from '../../../src/gateway/definitions/schema-parts.ts'
import { builtInSchema } from './built-in-schema.ts'
import { anything, count, definitionOf, kindSchema, list, texts, time, type Project } from './project.ts'

const group = 'delivery.example.com'
const textType: Schema = { type: 'string' }
const selector = builtInSchema(labelSelector)
const portion: Schema = { anyOf: [{ type: 'integer' }, { type: 'string' }], 'x-kubernetes-int-or-string': true }
const flags = (...names: readonly string[]): Schema =>
  object(Object.fromEntries(names.map((name) => [name, { type: 'boolean' }])))
const fields = (...names: readonly string[]): Readonly<Record<string, Schema>> =>
  Object.fromEntries(names.map((name) => [name, textType]))

const chart: Schema = object({
  ...fields('releaseName', 'values', 'version', 'namespace', 'kubeVersion'),
  valueFiles: list(textType),
  parameters: list(object({ ...fields('name', 'value'), forceString: { type: 'boolean' } })),
  fileParameters: list(object(fields('name', 'path'))),
  valuesObject: { type: 'object', ...anything },
  skip: flags('crds', 'tests', 'schemaValidation'),
})
const overlay: Schema = object({
  ...fields('namePrefix', 'nameSuffix', 'version', 'namespace'),
  ...{ commonLabels: texts, commonAnnotations: texts, images: list(textType), components: list(textType) },
  replicas: list(object({ name: textType, count: portion }, ['name', 'count'])),
  patches: list(
    object({
      ...{ path: textType, patch: textType, options: { type: 'object', additionalProperties: { type: 'boolean' } } },
      target: object(fields('group', 'version', 'kind', 'name', 'namespace', 'labelSelector', 'annotationSelector')),
    }),
  ),
})
const directory: Schema = object({
  ...{ recurse: { type: 'boolean' }, ...fields('include', 'exclude') },
  jsonnet: object({
    libs: list(textType),
    extVars: list(object({ ...fields('name', 'value'), code: { type: 'boolean' } }, ['name', 'value'])),
  }),
})
const source: Schema = object(
  {
    ...fields('repoURL', 'path', 'targetRevision', 'chart', 'ref', 'name'),
    ...{ helm: chart, kustomize: overlay, directory },
    plugin: object({
      name: textType,
      env: list(object(fields('name', 'value'), ['name', 'value'])),
      parameters: list(object({ ...fields('name', 'string'), array: list(textType), map: texts })),
    }),
  },
  ['repoURL'],
)
const deliverySpec: Schema = object(
  {
    ...{ project: textType, source, sources: list(source), revisionHistoryLimit: { type: 'integer', format: 'int64' } },
    destination: object(fields('server', 'namespace', 'name')),
    ignoreDifferences: list(
      object(
        {
          ...fields('group', 'kind', 'name', 'namespace'),
          ...{ jsonPointers: list(textType), managedFieldsManagers: list(textType) },
        },
        ['kind'],
      ),
    ),
    info: list(object(fields('name', 'value'), ['name', 'value'])),
    syncPolicy: object({
      ...{ automated: flags('prune', 'selfHeal', 'allowEmpty'), syncOptions: list(textType) },
      retry: object({
        ...{ limit: { type: 'integer', format: 'int64' } },
        backoff: object({ duration: textType, factor: count, maxDuration: textType }),
      }),
    }),
  },
  ['destination', 'project'],
)

const template: Schema = object(
  {
    metadata: object({ ...fields('name', 'namespace'), labels: texts, annotations: texts, finalizers: list(textType) }),
    spec: deliverySpec,
  },
  ['metadata', 'spec'],
)
const secretRef: Schema = object(fields('secretName', 'key'), ['secretName', 'key'])
const requeue: Schema = { type: 'integer', format: 'int64', minimum: 1 }

/** The generators that have no generators. */
const leaves: Readonly<Record<string, Schema>> = {
  list: object({ elements: list(anything), elementsYaml: textType, template }),
  clusters: object({ selector, values: texts, flatList: { type: 'boolean' }, template }),
  git: object(
    {
      ...{ repoURL: textType, revision: textType, requeueAfterSeconds: requeue, values: texts, template },
      directories: list(object({ path: textType, exclude: { type: 'boolean' } }, ['path'])),
      files: list(object({ path: { type: 'string', minLength: 1, pattern: '^[^/].*$' } }, ['path'])),
    },
    ['repoURL'],
  ),
  registry: object(
    {
      ...{
        ...fields('host', 'repository', 'constraint'),
        tokenRef: secretRef,
        requeueAfterSeconds: requeue,
        values: texts,
      },
      template,
    },
    ['repository'],
  ),
  hosting: object({
    ...{ organization: textType, api: textType, tokenRef: secretRef, requeueAfterSeconds: requeue, template },
    filters: list(object({ ...fields('branchMatch', 'repositoryMatch'), pathsExist: list(textType) })),
    cloneProtocol: { type: 'string', enum: ['ssh', 'https'] },
  }),
}

/** Each level has the generators of the next one twice: combined and merged. */
function generator(levels: number): Schema {
  if (levels === 0) return object({ ...leaves, selector })
  const generators = list(generator(levels - 1))
  return object({
    ...{ ...leaves, selector },
    matrix: object({ generators, template }, ['generators']),
    merge: object({ generators, mergeKeys: list(textType), template }, ['generators', 'mergeKeys']),
  })
}

const delivery = definitionOf(group, 'Delivery', 'Namespaced', [
  {
    ...{ name: 'v1alpha1', served: true, storage: true },
    schema: kindSchema(
      {
        spec: deliverySpec,
        status: object({ conditions: list(anything), health: object(fields('status')), observedAt: time }),
        operation: object({ sync: object({ revision: textType, prune: { type: 'boolean' } }), info: list(anything) }),
      },
      ['spec'],
    ),
    additionalPrinterColumns: [
      column('Health', '.status.health.status'),
      column('Project', '.spec.project', 'string', 10),
    ],
  },
])

export const deliverySet = definitionOf(
  group,
  'DeliverySet',
  'Namespaced',
  [
    {
      ...{ name: 'v1alpha1', served: true, storage: true, subresources: { status: {} } },
      schema: kindSchema(
        {
          spec: object(
            {
              ...{ generators: list(generator(2)), template, goTemplateOptions: list(textType) },
              strategy: object({
                type: textType,
                rollingSync: object({ steps: list(object({ maxUpdate: portion, matchExpressions: list(anything) })) }),
              }),
            },
            ['generators', 'template'],
          ),
          status: object({ conditions: list(anything) }),
        },
        ['spec'],
      ),
    },
  ],
  { shortNames: ['ds1', 'ds2'] },
)

const apiVersion = `${group}/v1alpha1`
const destination = { server: 'https://cluster.example.com', namespace: 'web' }
const spec = { project: 'default', destination, source: { repoURL: 'https://git.example.com/a', path: 'web' } }
const whole = { metadata: { name: '{{name}}' }, spec }

export const deliveries: Project = {
  crds: [delivery, deliverySet],
  samples: [
    {
      status: 201,
      object: {
        ...{ apiVersion, kind: 'Delivery', metadata: { name: 'web' } },
        spec: {
          ...spec,
          source: {
            ...spec.source,
            helm: { parameters: [{ name: 'a', value: '1' }], valuesObject: { any: { depth: [1, 'two', null] } } },
            kustomize: {
              replicas: [
                { name: 'a', count: 3 },
                { name: 'b', count: '50%' },
              ],
            },
          },
          syncPolicy: { automated: { prune: true }, retry: { limit: 5, backoff: { duration: '5s', factor: 2 } } },
        },
      },
    },
    {
      status: 201,
      object: {
        ...{ apiVersion, kind: 'DeliverySet', metadata: { name: 'all' } },
        spec: {
          template: whole,
          generators: [
            {
              matrix: {
                generators: [
                  { list: { elements: [{ name: 'one' }, 'two', 3] } },
                  {
                    merge: {
                      mergeKeys: ['name'],
                      generators: [
                        { git: { repoURL: 'https://git.example.com/a', files: [{ path: 'a.json' }] } },
                        { clusters: { selector: { matchLabels: { tier: 'front' } }, template: whole } },
                      ],
                    },
                  },
                ],
              },
            },
          ],
        },
      },
    },
    {
      status: 400,
      message:
        'DeliverySet in version "v1alpha1" cannot be handled as a DeliverySet: strict decoding error: unknown field "spec.generators[0].matrix.generators[0].list.template.spec.source.revision", unknown field "spec.generators[1].configMapRef", unknown field "spec.template.spec.source.helm.useCredentials"',
      object: {
        ...{ apiVersion, kind: 'DeliverySet', metadata: { name: 'unknown' } },
        spec: {
          template: { ...whole, spec: { ...spec, source: { ...spec.source, helm: { useCredentials: true } } } },
          generators: [
            {
              matrix: {
                generators: [
                  {
                    list: {
                      template: { ...whole, spec: { ...spec, source: { ...spec.source, revision: 'x' } } },
                    },
                  },
                ],
              },
            },
            { configMapRef: 'x' },
          ],
        },
      },
    },
    {
      status: 422,
      message:
        'DeliverySet.delivery.example.com "deep" is invalid: [spec.generators[0].merge.generators[0].matrix.generators[0].git.files[0].path: Invalid value: "/a": spec.generators[0].merge.generators[0].matrix.generators[0].git.files[0].path in body should match \'^[^/].*$\', spec.generators[0].merge.mergeKeys: Required value]',
      object: {
        ...{ apiVersion, kind: 'DeliverySet', metadata: { name: 'deep' } },
        spec: {
          template: whole,
          generators: [
            {
              merge: {
                generators: [{ matrix: { generators: [{ git: { repoURL: 'a', files: [{ path: '/a' }] } }] } }],
              },
            },
          ],
        },
      },
    },
  ],
}
