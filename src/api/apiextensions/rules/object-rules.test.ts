// Rules of custom resources: the errors that v1.36.4 returned for the same schemas and objects.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { runToEnd } from '../../../base/work/work-slice.ts'
import type { JsonObject } from '../../../schema/json/json-value.ts'
import { fieldErrorText, type FieldError } from '../../../schema/validation/field-error.ts'
import type { JsonSchemaProps, ValidationRule } from '../schema/json-schema-props.ts'
import { objectRules } from './object-rules.ts'

const validated = (
  schema: JsonSchemaProps,
  object: JsonObject,
  old?: JsonObject,
  warn: (error: FieldError) => void = () => undefined,
): FieldError[] => runToEnd((slice) => objectRules(schema).validate(object, old, warn, slice))

const errorsOf = (schema: JsonSchemaProps, object: JsonObject, old?: JsonObject): string[] =>
  validated(schema, object, old).map(fieldErrorText)

const withRules = (schema: JsonSchemaProps, ...rules: readonly (string | ValidationRule)[]): JsonSchemaProps => ({
  ...schema,
  'x-kubernetes-validations': rules.map((rule) => (typeof rule === 'string' ? { rule } : rule)),
})

const root = (properties: Readonly<Record<string, JsonSchemaProps>>): JsonSchemaProps => ({
  type: 'object',
  properties,
})

const text: JsonSchemaProps = { type: 'string' }
const int: JsonSchemaProps = { type: 'integer' }

const failing: readonly ValidationRule[] = [
  { rule: ' false ' },
  { rule: 'false', message: ' own ' },
  { rule: 'false', message: 'own', reason: 'FieldValueForbidden' },
  { rule: 'false', message: 'own', reason: 'FieldValueRequired' },
  { rule: 'false', message: 'own', reason: 'FieldValueDuplicate' },
  { rule: '1/0 > 2' },
  { rule: '1/0 > 2', message: 'own' },
]

const valueCases: readonly (readonly [
  schema: JsonSchemaProps,
  value: JsonObject[string],
  errors: readonly string[],
])[] = [
  [
    { type: 'object' },
    {},
    [
      'v: Invalid value: failed rule: false',
      'v: Invalid value: own',
      'v: Forbidden: own',
      'v: Required value: own',
      'v: Duplicate value',
      'v: Invalid value: "object": division by zero evaluating rule: 1/0 > 2',
      'v: Invalid value: "object": division by zero evaluating rule: own',
    ],
  ],
  [
    { type: 'array', items: text },
    ['a'],
    [
      'v: Invalid value: failed rule: false',
      'v: Invalid value: own',
      'v: Forbidden: own',
      'v: Required value: own',
      'v: Duplicate value',
      'v: Invalid value: "array": division by zero evaluating rule: 1/0 > 2',
      'v: Invalid value: "array": division by zero evaluating rule: own',
    ],
  ],
  [
    { 'x-kubernetes-int-or-string': true },
    5,
    [
      'v: Invalid value: 5: failed rule: false',
      'v: Invalid value: 5: own',
      'v: Forbidden: own',
      'v: Required value: own',
      'v: Duplicate value: 5',
      'v: Invalid value: "": division by zero evaluating rule: 1/0 > 2',
      'v: Invalid value: "": division by zero evaluating rule: own',
    ],
  ],
  [{ type: 'string', nullable: true }, null, []],
]

test('a failed rule is an error of its reason that shows scalar values', () => {
  for (const [schema, value, errors] of valueCases)
    deepEqual(errorsOf(root({ v: withRules(schema, ...failing) }), { v: value }), errors)
})

test('a rule of the root, with a path to a field', () => {
  const schema = withRules(
    root({ a: int, m: { type: 'object', additionalProperties: text } }),
    `self.metadata.name == 'y'`,
    { rule: 'self.a > 1', fieldPath: '.a', message: 'small' },
    { rule: 'self.a > 1', fieldPath: `.m['x.y']` },
  )
  deepEqual(errorsOf(schema, { metadata: { name: 'x' }, a: 1 }), [
    `<nil>: Invalid value: failed rule: self.metadata.name == 'y'`,
    'a: Invalid value: small',
    'm[x.y]: Invalid value: failed rule: self.a > 1',
  ])
})

test('rules of items and of values of a map', () => {
  const schema = root({
    l: { type: 'array', items: withRules(int, 'self > 3', '1/self > 3') },
    m: { type: 'object', additionalProperties: withRules(text, 'self.size() > 3') },
    i: withRules({ 'x-kubernetes-int-or-string': true }, 'self > 3'),
  })
  deepEqual(errorsOf(schema, { l: [1, 0], m: { 'c.d': 'c', x: 'long' }, i: 'x' }), [
    'l[0]: Invalid value: 1: failed rule: self > 3',
    'l[0]: Invalid value: 1: failed rule: 1/self > 3',
    'l[1]: Invalid value: 0: failed rule: self > 3',
    'l[1]: Invalid value: "integer": division by zero evaluating rule: 1/self > 3',
    'm[c.d]: Invalid value: "c": failed rule: self.size() > 3',
    `i: Invalid value: "": 'no such overload': call arguments did not match a supported operator, function or macro signature for rule: self > 3`,
  ])
})

const messageCases: readonly (readonly [messageExpression: string, message: string])[] = [
  [`'a' + 'b'`, 'ab'],
  [`' t '`, 't'],
  [`' '`, 'own'],
  [String.raw`'a\nb'`, 'own'],
  ['string(1/0)', 'own'],
  [`'${'x'.repeat(5120)}'`, 'x'.repeat(5120)],
  [`'${'x'.repeat(5121)}'`, 'own'],
]

test('a message expression that cannot be used is replaced by the message', () => {
  for (const [messageExpression, message] of messageCases)
    deepEqual(
      errorsOf(root({ v: withRules(root({}), { rule: 'false', message: 'own', messageExpression }) }), { v: {} }),
      [`v: Invalid value: ${message}`],
    )
})

test('a schema without rules is empty', () => {
  equal(objectRules(undefined).isEmpty, true)
  equal(objectRules(root({ a: int })).isEmpty, true)
  equal(objectRules(root({ a: { type: 'array', items: withRules(int, 'self > 0') } })).isEmpty, false)
})

const never = (message: string): ValidationRule => ({ rule: 'false', message })
const ratcheted = root({
  a: withRules(int, never('a')),
  s: {
    ...withRules(
      root({
        x: withRules(int, never('sx'), { rule: '1/0 == 1', message: 'error' }),
        y: withRules(int, 'self == oldSelf'),
      }),
      { rule: 'oldSelf.hasValue()', optionalOldSelf: true, message: 'new' },
    ),
  },
  l: { type: 'array', items: withRules(int, never('li')) },
  lm: {
    ...withRules(
      {
        type: 'array',
        items: withRules(root({ k: text, v: int }), { rule: 'self.v >= oldSelf.v', message: 'less' }),
      },
      never('lm'),
    ),
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['k'],
  },
})
const before: JsonObject = {
  a: 1,
  s: { x: 1, y: 1 },
  l: [1, 2],
  lm: [
    { k: 'a', v: 1 },
    { k: 'b', v: 2 },
  ],
}

/** What v1.36.4 returned for updates of an object that was created before its definition had rules. */
const updates: readonly (readonly [name: string, change: JsonObject, errors: readonly string[]])[] = [
  ['nothing changes', {}, []],
  ['a changed value', { a: 2 }, ['a: Invalid value: 2: a']],
  ['an unchanged value beside it', { s: { x: 1, y: 2 } }, ['s.y: Invalid value: 2: failed rule: self == oldSelf']],
  [
    'a changed list: none of its items corresponds',
    { l: [1, 3] },
    ['l[0]: Invalid value: 1: li', 'l[1]: Invalid value: 3: li'],
  ],
  [
    'another order of a list of type map',
    {
      lm: [
        { k: 'b', v: 2 },
        { k: 'a', v: 1 },
      ],
    },
    [],
  ],
  [
    'an item of a list of type map',
    {
      lm: [
        { k: 'a', v: 0 },
        { k: 'b', v: 2 },
      ],
    },
    ['lm: Invalid value: lm', 'lm[0]: Invalid value: less'],
  ],
]

test('errors of values that have not changed are warnings', () => {
  const error = 's.x: Invalid value: "integer": division by zero evaluating rule: error'
  for (const [name, change, errors] of updates)
    deepEqual(
      errorsOf(ratcheted, { ...before, ...change }, before).filter((each) => each !== error),
      errors,
      name,
    )
  const warnings: string[] = []
  validated(ratcheted, before, before, (each) => warnings.push(fieldErrorText(each)))
  deepEqual(warnings, [
    'a: Invalid value: 1: a',
    's.x: Invalid value: 1: sx',
    'l[0]: Invalid value: 1: li',
    'l[1]: Invalid value: 2: li',
    'lm: Invalid value: lm',
  ])
  equal(errorsOf(ratcheted, before).includes('s: Invalid value: new'), true)
})
