import { deepEqual, equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiObject } from '../../api/meta/object.ts'
import { ConversionError, convertedObjects, reviewVersionOf, type ReviewVersion } from './conversion-review.ts'

const object = (name: string, more: object = {}) =>
  ({
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata: { name, namespace: 'default', uid: 'u', labels: { a: '1' }, finalizers: ['example.com/f'] },
    ...more,
  }) as unknown as ApiObject

const converted = (name = 'a', more: object = {}, metadata: object = {}): object => ({
  ...object(name),
  apiVersion: 'example.com/v2',
  metadata: { name, namespace: 'default', uid: 'u', ...metadata },
  ...more,
})

const review = (objects: unknown, response: object = {}, more: object = {}): object => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'ConversionReview',
  response: { uid: 'r', result: { status: 'Success' }, convertedObjects: objects, ...response },
  ...more,
})

const read = (value: unknown, names: readonly string[] = ['a'], version: ReviewVersion = 'v1') =>
  convertedObjects(value, {
    version,
    uid: 'r',
    apiVersion: 'example.com/v2',
    objects: names.map((name) => object(name)),
  })

const call = 'conversion_webhook_call_failure'
const malformed = 'conversion_webhook_malformed_response_failure'
const partial = 'conversion_webhook_partial_response_failure'
const wrong = 'conversion_webhook_invalid_converted_object_failure'
const labelForm =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"

/** Messages as v1.36.4 returned them for the same responses. */
const failures: readonly (readonly [name: string, response: unknown, failure: string, message: string])[] = [
  ['another uid', review([converted()], { uid: 'x' }), malformed, 'failed: expected response.uid="r", got "x"'],
  [
    'no type',
    { response: {} },
    malformed,
    'failed: expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got /, Kind=',
  ],
  [
    'another version',
    review([], {}, { apiVersion: 'apiextensions.k8s.io/v1beta1' }),
    call,
    'failed: converting (v1beta1.ConversionReview) to (v1.ConversionReview): unknown conversion',
  ],
  [
    'another kind',
    review([], {}, { kind: 'Foo' }),
    call,
    'failed: no kind "Foo" is registered for version "apiextensions.k8s.io/v1" in scheme "pkg/util/webhook/client.go:71"',
  ],
  ['no response', review([], {}, { response: undefined }), malformed, 'failed: no response provided'],
  ['too few objects', review([]), partial, 'returned 0 objects, expected 1'],
  ['no objects', review(undefined), partial, 'returned 0 objects, expected 1'],
  ['too many objects', review([converted(), converted()]), partial, 'returned 2 objects, expected 1'],
  [
    'a failure with a message',
    review([], { result: { status: 'Failure', message: 'no way' } }),
    malformed,
    'failed: no way',
  ],
  [
    'a failure without a message',
    review([], { result: { status: 'Failed' } }),
    malformed,
    "failed: response.result.status was 'Failed', not 'Success'",
  ],
  ['no status', review([], { result: {} }), malformed, "failed: response.result.status was '', not 'Success'"],
  [
    'text in place of objects',
    review('x'),
    call,
    'failed: json: cannot unmarshal string into Go struct field ConversionResponse.response.convertedObjects of type []runtime.RawExtension',
  ],
  [
    'an object of another group',
    review([converted('a', { apiVersion: 'foo/v1' })]),
    wrong,
    'returned invalid object at index 0: invalid groupVersion (expected example.com/v2, received foo/v1)',
  ],
  [
    'an object of another kind',
    review([converted('a', { kind: 'Foo' })]),
    wrong,
    'returned invalid object at index 0: invalid kind (expected Widget, received Foo)',
  ],
  ['another name', review([converted('b')]), wrong, 'returned invalid object: must have the same name: a != b'],
  [
    'another namespace',
    review([converted('a', {}, { namespace: 'other' })]),
    wrong,
    'returned invalid object: must have the same namespace: default != other',
  ],
  [
    'another uid of the object',
    review([converted('a', {}, { uid: 'v' })]),
    wrong,
    'returned invalid object: must have the same UID: u != v',
  ],
  [
    'no metadata',
    review([converted('a', { metadata: undefined })]),
    wrong,
    'returned invalid object: must have the same name: a != ',
  ],
  [
    'an invalid label',
    review([converted('a', {}, { labels: { 'a b': '1' } })]),
    wrong,
    `returned invalid metadata: metadata.labels: Invalid value: "a b": ${labelForm}`,
  ],
  [
    'an invalid annotation',
    review([converted('a', {}, { annotations: { 'a b': '1' } })]),
    wrong,
    `returned invalid metadata: metadata.annotation: Invalid value: "a b": ${labelForm}`,
  ],
  [
    'a number as a label',
    review([converted('a', {}, { labels: { a: 1 } })]),
    wrong,
    'returned invalid metadata: metadata.labels[a] must be a string, but is int64 in converted object',
  ],
  [
    'text as labels',
    review([converted('a', {}, { labels: 'x' })]),
    wrong,
    'returned invalid metadata: invalid metadata.labels of type string in converted object',
  ],
  [
    'text as an object',
    review(['x']),
    wrong,
    'json: cannot unmarshal string into Go value of type map[string]interface {}',
  ],
  ['null as an object', review([null]), wrong, 'unexpected end of JSON input'],
  ['an empty object', review([{}]), wrong, "Object 'Kind' is missing in '{}'"],
]

for (const [name, response, failure, message] of failures)
  test(`a response with ${name} is an error`, () => {
    throws(
      () => read(response),
      (error) => {
        equal(error instanceof ConversionError, true)
        deepEqual([(error as ConversionError).failure, (error as Error).message], [failure, message])
        return true
      },
    )
  })

test('errors in one of several objects name its index', () => {
  const message = 'returned invalid converted object at index 1: must have the same name: b != a'
  throws(() => read(review([converted('a'), converted('a')]), ['a', 'b']), { message })
})

test('a webhook changes labels and annotations, and no other metadata', () => {
  const metadata = { labels: { b: '2' }, annotations: { c: '3' }, finalizers: [], generation: 7 }
  const [result] = read(review([converted('a', { spec: {} }, metadata)]))
  deepEqual(result, {
    apiVersion: 'example.com/v2',
    kind: 'Widget',
    metadata: {
      name: 'a',
      namespace: 'default',
      uid: 'u',
      finalizers: ['example.com/f'],
      labels: { b: '2' },
      annotations: { c: '3' },
    },
    spec: {},
  })
  deepEqual('labels' in (read(review([converted()]))[0]?.metadata ?? {}), false)
})

test('a review of v1beta1 is checked less strictly', () => {
  equal(
    read(review([converted()], { uid: 'x' }, { apiVersion: undefined, kind: undefined }), ['a'], 'v1beta1').length,
    1,
  )
})

test('the first supported version of reviews is used', () => {
  equal(reviewVersionOf(['v9', 'v1beta1', 'v1']), 'v1beta1')
  equal(reviewVersionOf(['v1', 'v1beta1']), 'v1')
})
