// Recipes that are run as pods: containers and pod templates in the schemas, values of any type, two versions with a
// webhook that converts, and columns that search a list of conditions.
import { container } from '../../../src/api/core/v1/container/container.ts'
import { containerState } from '../../../src/api/core/v1/pod/pod-status.ts'
import { podSpec } from '../../../src/api/core/v1/pod-spec/pod-spec.ts'
import { volume } from '../../../src/api/core/v1/volume/volume.ts'
import { column, keyedList, object, text, type Schema } from '../../../src/gateway/definitions/schema-parts.ts'
import { builtInSchema } from './built-in-schema.ts'
import { anything, count, definitionOf, kindSchema, list, texts, time, type Project } from './project.ts'

const group = 'assembly.example.com'
const name = text(63)

const param: Schema = object({ name, value: anything }, ['name', 'value'])
const declaredParam: Schema = object(
  {
    ...{ name, description: { type: 'string' }, default: anything, properties: anything },
    type: { type: 'string', default: 'string', enum: ['string', 'array', 'object'] },
  },
  ['name'],
)
const reference: Schema = object({ name, kind: { type: 'string' }, resolver: { type: 'string' }, params: list(param) })

const { properties: containerFields = {} } = builtInSchema(container)
const step: Schema = object(
  {
    ...containerFields,
    script: { type: 'string' },
    timeout: { type: 'string' },
    onError: { type: 'string', enum: ['continue', 'stop'] },
    results: keyedList(declaredParam, 64, 'name'),
    when: list(object({ input: { type: 'string' }, operator: { type: 'string' }, values: list({ type: 'string' }) })),
  },
  ['name'],
)
const recipeSpec: Schema = object(
  {
    params: keyedList(declaredParam, 128, 'name'),
    steps: list(step),
    sidecars: list(step),
    volumes: list(builtInSchema(volume)),
    results: keyedList(declaredParam, 128, 'name'),
  },
  ['steps'],
)

const { properties: podFields = {} } = builtInSchema(podSpec)
const ofPods = ['affinity', 'nodeSelector', 'tolerations', 'securityContext', 'topologySpreadConstraints', 'dnsConfig']
const podTemplate: Schema = object(Object.fromEntries(ofPods.map((field) => [field, podFields[field] ?? anything])))

const conditions: Schema = list(
  object(
    {
      ...{ type: { type: 'string' }, status: { type: 'string' }, severity: { type: 'string' } },
      ...{ reason: { type: 'string' }, message: { type: 'string' }, lastTransitionTime: time },
    },
    ['type', 'status'],
  ),
)
const { properties: states = {} } = builtInSchema(containerState)
const runStatus: Schema = object({
  ...{ conditions, annotations: texts, observedGeneration: { type: 'integer', format: 'int64' } },
  ...{ podName: { type: 'string' }, startTime: time, completionTime: time, provenance: anything },
  steps: list(object({ ...states, name, container: { type: 'string' }, results: list(param) })),
  retriesStatus: anything,
})
const runSpec = (more: Readonly<Record<string, Schema>>): Schema =>
  object({
    ...{ params: list(param), recipeRef: reference, recipeSpec, podTemplate, timeout: { type: 'string' } },
    ...{ serviceAccountName: { type: 'string', default: 'default' }, retries: count },
    ...more,
  })

const columns = [
  column('Succeeded', ".status.conditions[?(@.type=='Succeeded')].status"),
  column('Reason', ".status.conditions[?(@.type=='Succeeded')].reason"),
  column('Start', '.status.startTime', 'date'),
  column('Owner', '.metadata.ownerReferences[0].name', 'string', 1),
]
const subresources = { status: {} }
const conversion = {
  strategy: 'Webhook',
  webhook: {
    conversionReviewVersions: ['v1', 'v1beta1'],
    clientConfig: { service: { name: 'converter', namespace: 'assembly' } },
  },
} as const

const older = { name: 'v1beta1', served: true, storage: false, subresources }
const stored = { name: 'v1', served: true, storage: true, subresources }

const recipe = definitionOf(
  group,
  'Recipe',
  'Namespaced',
  [
    { ...older, schema: kindSchema({ spec: anything }) },
    { ...stored, schema: kindSchema({ spec: recipeSpec }) },
  ],
  { conversion },
)

/** As large as the largest definitions of one concept. */
export const recipeRun = definitionOf(
  group,
  'RecipeRun',
  'Namespaced',
  [
    {
      ...{ ...older, additionalPrinterColumns: columns },
      schema: kindSchema({ spec: runSpec({ bundle: { type: 'string' } }), status: runStatus }),
    },
    {
      ...{ ...stored, additionalPrinterColumns: columns },
      schema: kindSchema({ spec: runSpec({ computeResources: anything }), status: runStatus }),
    },
  ],
  { conversion, shortNames: ['rr', 'rrs'] },
)

const v1 = `${group}/v1`
const echo = { name: 'say', image: 'busybox', script: '#!/bin/sh\necho hi' }
const recipeObject = (spec: object) => ({ apiVersion: v1, kind: 'Recipe', metadata: { name: 'one' }, spec })
const runObject = (spec: object) => ({ apiVersion: v1, kind: 'RecipeRun', metadata: { generateName: 'run-' }, spec })

export const assembly: Project = {
  crds: [recipe, recipeRun],
  samples: [
    { status: 201, object: recipeObject({ steps: [echo] }) },
    {
      status: 201,
      object: recipeObject({
        params: [{ name: 'a' }, { name: 'b', type: 'array', default: ['x', 1, { any: null }] }],
        steps: [
          {
            ...echo,
            resources: { limits: { cpu: 1, memory: '1Gi' } },
            readinessProbe: { httpGet: { port: 'http', path: '/' } },
            env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }],
          },
        ],
        volumes: [{ name: 'v', emptyDir: { sizeLimit: '1.5Gi' } }],
      }),
    },
    {
      status: 201,
      object: runObject({
        recipeRef: { name: 'one' },
        params: [
          { name: 'a', value: { deep: [{ er: true }] } },
          { name: 'b', value: 1 },
        ],
        podTemplate: { tolerations: [{ key: 'k', operator: 'Exists' }], nodeSelector: { a: 'b' } },
      }),
    },
    {
      status: 400,
      message:
        'RecipeRun in version "v1" cannot be handled as a RecipeRun: strict decoding error: unknown field "spec.bundle", unknown field "spec.recipeRef.bundle", unknown field "spec.recipeSpec.steps[0].imagePullPolice"',
      object: runObject({
        bundle: 'x',
        recipeRef: { name: 'one', bundle: 'y' },
        recipeSpec: { steps: [{ ...echo, imagePullPolice: 'Always' }] },
      }),
    },
    {
      status: 422,
      message:
        'Recipe.assembly.example.com "one" is invalid: [spec.steps[0].onError: Unsupported value: "retry": supported values: "continue", "stop", spec.steps[0].name: Required value]',
      object: recipeObject({ steps: [{ image: 'busybox', onError: 'retry' }] }),
    },
    {
      status: 500,
      message:
        'conversion webhook for assembly.example.com/v1beta1, Kind=Recipe failed: Post "https://converter.assembly.svc:443/?timeout=30s": service "converter" not found',
      object: { apiVersion: `${group}/v1beta1`, kind: 'Recipe', metadata: { name: 'older' }, spec: {} },
    },
  ],
}
