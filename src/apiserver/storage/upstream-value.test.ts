// Values as kube-apiserver stores them have the same objects as those that this server stores.
import { deepEqual, equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { deployment } from '../../api/apps/v1/deployment.ts'
import { horizontalPodAutoscalerV1 as autoscalerV1 } from '../../api/autoscaling/v1/horizontal-pod-autoscaler.ts'
import { customResourceDefinition } from '../../api/apiextensions/v1/custom-resource-definition.ts'
import { storedKinds } from '../../api/kinds.ts'
import type { Kind } from '../../api/kind/kind.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import { encodeEnvelope, encodeProtobuf } from '../../schema/protobuf/protobuf-encode.ts'
import { ValueUnreadable } from '../../store/store.ts'
import { parseObject, storedBytes } from './stored-json.ts'
import { StoredObject } from './stored-object.ts'
import { readableValue } from './upstream-value.ts'

const text = new TextEncoder()

const betaStart = '{"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1beta1"'

const asProtobuf = (kind: Kind, object: object, apiVersion = kind.apiVersion): Uint8Array =>
  encodeEnvelope(apiVersion, kind.kind, encodeProtobuf(kind.message, object))

const read = (value: Uint8Array): ApiObject => parseObject(readableValue('/registry/a', value))

const complete = (kind: Kind, object: object): ApiObject => {
  const { kind: name, apiVersion } = kind
  const { value } = kind.schema.decode({ kind: name, apiVersion, ...object })
  return parseObject(storedBytes(kind.applyDefaults(kind.schema.withDefaults(value) as unknown as ApiObject)))
}

for (const kind of storedKinds)
  test(`${kind.plural} of ${kind.apiVersion} in protobuf are read`, () => {
    const object = {
      metadata: {
        name: 'a',
        uid: 'b3a1',
        creationTimestamp: '2030-01-01T00:00:00Z',
        labels: { app: 'ä' },
        managedFields: [{ manager: 'm', operation: 'Update', fieldsType: 'FieldsV1', fieldsV1: { 'f:a': {} } }],
      },
    }
    const expected = complete(kind, object)
    deepEqual(read(asProtobuf(kind, expected)), expected)
  })

test('a stored version has the revision of its key, and the fields that are set', () => {
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } }
  const object = { metadata: { name: 'web' }, spec: { replicas: 2, selector: { matchLabels: { a: 'b' } }, template } }
  const value = asProtobuf(deployment, complete(deployment, object))
  const item = { key: '/registry/deployments/default/web', value, createRevision: 3, modRevision: 7, version: 2 }
  const stored = StoredObject.ofItem(item)
  equal(stored.object.metadata.resourceVersion, '7')
  deepEqual(read(value), complete(deployment, object))
})

test('an autoscaler of autoscaling/v1 is read as the version that is stored', () => {
  const spec = {
    scaleTargetRef: { kind: 'Deployment', name: 'web' },
    maxReplicas: 3,
    targetCPUUtilizationPercentage: 60,
  }
  const { apiVersion, spec: read_ } = read(asProtobuf(autoscalerV1, { metadata: { name: 'a' }, spec })) as ApiObject & {
    readonly spec: { readonly metrics: readonly unknown[] }
  }
  equal(apiVersion, 'autoscaling/v2')
  equal(read_.metrics.length, 1)
})

const betaOfV1: readonly [apiVersion: string, plural: string][] = [
  ['admissionregistration.k8s.io/v1beta1', 'mutatingadmissionpolicies'],
  ['admissionregistration.k8s.io/v1beta1', 'mutatingadmissionpolicybindings'],
  ['networking.k8s.io/v1beta1', 'servicecidrs'],
  ['resource.k8s.io/v1beta2', 'resourceclaims'],
  ['storage.k8s.io/v1beta1', 'volumeattributesclasses'],
]
for (const [apiVersion, plural] of betaOfV1)
  test(`${plural} of ${apiVersion} are read as v1`, () => {
    const kind = storedKinds.find((each) => each.plural === plural)
    if (kind === undefined) throw new Error(`there is no kind of ${plural}`)
    const object = complete(kind, { metadata: { name: 'a' } })
    deepEqual(read(asProtobuf(kind, object, apiVersion)), object)
  })

test('a version that is not known is an error with its key', () => {
  throws(
    () =>
      readableValue(
        '/registry/resourceclaims/a/b',
        encodeEnvelope('resource.k8s.io/v1alpha3', 'ResourceClaim', text.encode('')),
      ),
    (error: unknown) =>
      error instanceof ValueUnreadable &&
      error.message ===
        'the value of /registry/resourceclaims/a/b is a ResourceClaim of resource.k8s.io/v1alpha3, which is not supported',
  )
})

test('a damaged value is an error with its key', () => {
  const value = asProtobuf(deployment, { metadata: { name: 'a' } })
  for (const damaged of [value.subarray(0, -3), text.encode(`${betaStart}{`)])
    throws(
      () => readableValue('/registry/deployments/a/b', damaged),
      (error: unknown) =>
        error instanceof ValueUnreadable &&
        error.message.startsWith('the value of /registry/deployments/a/b cannot be decoded: '),
    )
})

test('other values are not changed', () => {
  for (const value of ['', 'k8s', '{"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1"}', '[]']) {
    const bytes = text.encode(value)
    equal(readableValue('/registry/a', bytes), bytes)
  }
})

const names = { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' }
const schema = { openAPIV3Schema: { type: 'object' } }
const betaColumn = { name: 'Size', type: 'string', JSONPath: '.spec.size' }
const column = { name: 'Size', type: 'string', jsonPath: '.spec.size' }
const base = { group: 'example.com', scope: 'Namespaced', names }
const v1 = { name: 'v1', served: true, storage: true }
const v2 = { name: 'v2', served: true, storage: false }
const clientConfig = { service: { namespace: 'a', name: 'b', port: 443 } }

const definitions: readonly [what: string, beta: object, expected: object][] = [
  [
    'what all versions have in common is in each of them',
    {
      version: 'v1',
      versions: [v1, v2],
      validation: schema,
      subresources: { status: {} },
      additionalPrinterColumns: [betaColumn],
      conversion: { strategy: 'None' },
      preserveUnknownFields: false,
    },
    {
      versions: [v1, v2].map((each) => ({
        ...each,
        schema,
        subresources: { status: {} },
        additionalPrinterColumns: [column],
      })),
      conversion: { strategy: 'None' },
    },
  ],
  [
    'versions that differ have their own',
    {
      version: 'v1',
      versions: [
        { ...v1, schema, additionalPrinterColumns: [betaColumn] },
        { ...v2, schema },
      ],
      conversion: { strategy: 'Webhook', webhookClientConfig: clientConfig, conversionReviewVersions: ['v1'] },
      preserveUnknownFields: false,
    },
    {
      versions: [
        { ...v1, schema, additionalPrinterColumns: [column] },
        { ...v2, schema },
      ],
      conversion: { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: ['v1'] } },
    },
  ],
  [
    'one version by name alone preserves unknown fields',
    { version: 'v1' },
    { versions: [v1], conversion: { strategy: 'None' }, preserveUnknownFields: true },
  ],
  [
    'a webhook without versions of reviews has the one that v1beta1 adds',
    {
      version: 'v1',
      versions: [{ ...v1, schema }],
      conversion: { strategy: 'Webhook', webhookClientConfig: clientConfig },
      preserveUnknownFields: false,
    },
    {
      versions: [{ ...v1, schema }],
      conversion: { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: ['v1beta1'] } },
    },
  ],
]
for (const [what, beta, expected] of definitions)
  test(`a definition of v1beta1 is read as v1: ${what}`, () => {
    const metadata = { name: 'widgets.example.com', uid: 'u' }
    const status = { conditions: [], acceptedNames: names, storedVersions: ['v1'] }
    const stored = { kind: 'CustomResourceDefinition', apiVersion: 'apiextensions.k8s.io/v1beta1', metadata }
    const value = text.encode(`${JSON.stringify({ ...stored, spec: { ...base, ...beta }, status })}\n`)
    deepEqual(read(value), complete(customResourceDefinition, { metadata, spec: { ...base, ...expected }, status }))
  })
