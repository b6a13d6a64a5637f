// Rules of metadata, label selectors and conditions that all kinds share.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { fieldErrorText } from '../../schema/validation/field-error.ts'
import { customResourceDefinition } from '../apiextensions/v1/custom-resource-definition.ts'
import { configMap } from '../core/v1/config-map.ts'
import { namespace } from '../core/v1/namespace.ts'
import type { Kind } from '../kind/kind.ts'
import { unusableSelector, validateLabelSelector } from './label-selector-rules.ts'
import { validateMetadata, validateMetadataUpdate } from './metadata-rules.ts'
import { validateCollisions, validateStatusConditions } from './status-rules.ts'

const withoutExamples = (text: string): string => text.replace(/ \((e\.g\.|regex) .*$/, '')
const objectWith = (metadata: object) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata }) as never

const subdomainForm = `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character`
const finalizerForm = 'name is neither a standard finalizer name nor is it fully qualified'
const named = { name: 'a', namespace: 'x' }
const owner = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u' }

const metadataCases: readonly (readonly [why: string, kind: Kind, metadata: object, errors: readonly string[]])[] = [
  ['is complete', configMap, named, []],
  ['a prefix may end with a dash', configMap, { ...named, generateName: 'a-' }, []],
  [
    'a prefix has the form of a name',
    configMap,
    { ...named, generateName: 'A' },
    [`metadata.generateName: Invalid value: "A": ${subdomainForm}`],
  ],
  [
    'a prefix is not only a dash',
    configMap,
    { ...named, generateName: '-' },
    [`metadata.generateName: Invalid value: "-": ${subdomainForm}`],
  ],
  [
    'a name is empty',
    configMap,
    { ...named, name: '' },
    ['metadata.name: Required value: name or generateName is required'],
  ],
  ['the namespace is missing', configMap, { name: 'a' }, ['metadata.namespace: Required value']],
  ['a namespace is in none', namespace, named, ['metadata.namespace: Forbidden: not allowed on this type']],
  [
    'finalizers',
    configMap,
    { ...named, finalizers: ['kubernetes', 'orphan', 'foregroundDeletion', 'example.com/a', 'a'] },
    [`metadata.finalizers[4]: Invalid value: "a": ${finalizerForm}`],
  ],
  ['finalizers of definitions have no prefix', customResourceDefinition, { name: 'a.b', finalizers: ['a'] }, []],
  [
    'the generation is negative',
    configMap,
    { ...named, generation: -1 },
    ['metadata.generation: Invalid value: -1: must be greater than or equal to 0'],
  ],
  [
    'an event is an owner',
    configMap,
    { ...named, ownerReferences: [{ ...owner, kind: 'Event' }] },
    [
      'metadata.ownerReferences: Invalid value: {"apiVersion":"v1","kind":"Event","name":"p","uid":"u"}: /v1, Kind=Event is disallowed from being an owner',
    ],
  ],
  [
    'an owner without fields',
    configMap,
    { ...named, ownerReferences: [{}] },
    [
      'metadata.ownerReferences.apiVersion: Invalid value: "": version must not be empty',
      ...['kind', 'name', 'uid'].map(
        (field) => `metadata.ownerReferences.${field}: Invalid value: "": must not be empty`,
      ),
    ],
  ],
]
for (const [why, kind, metadata, errors] of metadataCases)
  test(`metadata: ${why}`, () => {
    deepEqual(
      validateMetadata(objectWith(metadata), kind).map((error) => withoutExamples(fieldErrorText(error))),
      errors,
    )
  })

test('two owners that control an object are shown with all of their fields', () => {
  const owners = [{ ...owner, controller: true }, { controller: true }]
  const [last] = validateMetadata(objectWith({ ...named, ownerReferences: owners }), configMap).slice(-1)
  deepEqual(last?.field, 'metadata.ownerReferences')
  deepEqual(
    last?.message.includes('{"apiVersion":"","kind":"","name":"","uid":"","controller":true}'),
    true,
    last?.message,
  )
})

const deleted = { ...named, deletionTimestamp: '2030-01-01T00:00:00Z' }
const updates: readonly (readonly [why: string, now: object, before: object, errors: readonly string[]])[] = [
  ['nothing changes', named, named, []],
  [
    'the uid changes',
    { ...named, uid: 'b' },
    { ...named, uid: 'a' },
    ['metadata.uid: Invalid value: "b": field is immutable'],
  ],
  ['a finalizer is added', { ...named, finalizers: ['a/b'] }, named, []],
  ['all finalizers are removed during deletion', deleted, { ...deleted, finalizers: ['a/b'] }, []],
  [
    'finalizers are added during deletion',
    { ...deleted, finalizers: ['a/b', 'a/c', 'a/d'] },
    { ...deleted, finalizers: ['a/b'] },
    [
      'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"a/c", "a/d"}',
    ],
  ],
]
for (const [why, now, before, errors] of updates)
  test(`an update of metadata: ${why}`, () => {
    deepEqual(validateMetadataUpdate(objectWith(now), objectWith(before)).map(fieldErrorText), errors)
  })

const at = 's.matchExpressions[0]'
const nameForm = `name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character`
const valueForm = `a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character`
const needsValues = `${at}.values: Required value: must be specified when \`operator\` is 'In' or 'NotIn'`
const hasValues = `${at}.values: Forbidden: may not be specified when \`operator\` is 'Exists' or 'DoesNotExist'`
const requirements: readonly (readonly [requirement: object, errors: readonly string[]])[] = [
  [{ key: 'a', operator: 'In', values: ['b', ''] }, []],
  [{ key: 'a', operator: 'Exists' }, []],
  [{ key: 'a', operator: 'In' }, [needsValues]],
  [{ key: 'a', operator: 'NotIn', values: [] }, [needsValues]],
  [{ key: 'a', operator: 'Exists', values: ['b'] }, [hasValues]],
  [{ key: 'a', operator: 'DoesNotExist', values: ['b'] }, [hasValues]],
  [{ key: 'a', operator: 'Gt', values: ['1'] }, [`${at}.operator: Invalid value: "Gt": not a valid selector operator`]],
  [
    {},
    [
      `${at}.operator: Invalid value: "": not a valid selector operator`,
      `${at}.key: Invalid value: "": name part must be non-empty`,
      `${at}.key: Invalid value: "": ${nameForm}`,
    ],
  ],
  [{ key: 'a', operator: 'In', values: ['b', '-'] }, [`${at}.values[1]: Invalid value: "-": ${valueForm}`]],
]
for (const [requirement, errors] of requirements)
  test(`a requirement of a selector: ${JSON.stringify(requirement)}`, () => {
    const selector = { matchExpressions: [requirement] } as never
    deepEqual(
      validateLabelSelector(selector, 's').map((error) => withoutExamples(fieldErrorText(error))),
      errors,
    )
  })

const selectors: readonly (readonly [selector: object | undefined, shown: string | undefined])[] = [
  [undefined, undefined],
  [{}, undefined],
  [{ matchLabels: { a: '-' } }, '{"matchLabels":{"a":"-"}}'],
  [{ matchExpressions: [{}] }, '{"matchExpressions":[{"key":"","operator":""}]}'],
]
for (const [selector, shown] of selectors)
  test(`a selector that cannot be used: ${JSON.stringify(selector)}`, () => {
    deepEqual(
      unusableSelector(selector as never, 's').map(fieldErrorText),
      shown === undefined ? [] : [`s: Invalid value: ${shown}: invalid label selector`],
    )
  })

const condition = { type: 'A', status: 'True', lastTransitionTime: '2030-01-01T00:00:00Z', reason: 'R' }
const conditionCases: readonly (readonly [why: string, conditions: readonly object[], errors: readonly string[]])[] = [
  ['are complete', [condition, { ...condition, type: 'B', message: 'm'.repeat(32_768) }], []],
  ['have the same type', [condition, condition], ['c[1].type: Duplicate value: "A"']],
  [
    'observe a negative generation',
    [{ ...condition, observedGeneration: -1 }],
    ['c[0].observedGeneration: Invalid value: -1: must be greater than or equal to zero'],
  ],
  ['have no reason', [{ ...condition, reason: '' }], ['c[0].reason: Required value: must be set']],
  [
    'have long texts',
    [{ ...condition, reason: 'r'.repeat(1025), message: 'm'.repeat(32_769) }],
    [
      'c[0].reason: Too long: may not be more than 1024 bytes',
      'c[0].message: Too long: may not be more than 32768 bytes',
    ],
  ],
  [
    'have no time',
    [{ ...condition, lastTransitionTime: null }],
    ['c[0].lastTransitionTime: Required value: must be set'],
  ],
]
for (const [why, conditions, errors] of conditionCases)
  test(`conditions that ${why}`, () => {
    deepEqual(validateStatusConditions(conditions, 'c').map(fieldErrorText), errors)
  })

const collisions: readonly (readonly [now: number | undefined, before: number | undefined, error?: string])[] = [
  [undefined, undefined],
  [1, undefined],
  [2, 1],
  [1, 1],
  [0, 1, 'status.collisionCount: Invalid value: 0: cannot be decremented'],
  [undefined, 1, 'status.collisionCount: Invalid value: 0: cannot be decremented'],
]
for (const [now, before, error] of collisions)
  test(`the number of collisions: ${now} after ${before}`, () => {
    const counted = (collisionCount?: number) => (collisionCount === undefined ? {} : { collisionCount })
    const errors = validateCollisions(counted(now), counted(before)).map(fieldErrorText)
    deepEqual(errors, error === undefined ? [] : [error])
  })
