// Values against schemas. The rows of test/facts/structural-values.json, which upstream answered, are more complete.
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../../../base/random/random.ts'
import { endlessSlice, type Slice } from '../../../../base/work/work-slice.ts'
import type { JsonValue } from '../../../../schema/json/json-value.ts'
import { fieldErrorText, type FieldError } from '../../../../schema/validation/field-error.ts'
import type { JsonSchemaProps } from '../../schema/json-schema-props.ts'
import type { Check } from './report.ts'
import { validateValue, valueCheck } from './value-check.ts'

const values: readonly (readonly [schema: JsonSchemaProps, value: JsonValue, error: string | RegExp | undefined])[] = [
  [{ type: 'string', maxLength: 1 }, 'é', undefined],
  [{ type: 'string', maxLength: 1 }, 'ab', 'v: Too long: may not be more than 1 byte'],
  [{ type: 'string', minLength: 2 }, 'a', /should be at least 2 chars long$/],
  [{ type: 'string', pattern: '^a' }, 'b', /should match '\^a'$/],
  [{ type: 'string', enum: ['a', 'b'] }, 'c', 'v: Unsupported value: "c": supported values: "a", "b"'],
  [{ type: 'string', format: 'date' }, '2030-01-99', /must be of type date: "2030-01-99"$/],
  [{ type: 'number', exclusiveMinimum: true, minimum: 1 }, 1, /should be greater than 1$/],
  [{ type: 'integer', multipleOf: 3 }, 4, /should be a multiple of 3$/],
  [{ type: 'array', maxItems: 1 }, [1, 2], 'v: Too many: 2: must have at most 1 item'],
  [{ type: 'array', minItems: 1 }, [], /should have at least 1 items$/],
  [{ type: 'object', required: ['a'] }, {}, 'v.a: Required value'],
  [
    { type: 'object', properties: { a: { type: 'string' } } },
    { a: 1 },
    /^v\.a: .*: a in body must be of type string: "integer"$/,
  ],
  [
    { type: 'array', items: { type: 'string' } },
    [1],
    /^v\.\[0\]: Invalid value: "integer": \[0\] in body must be of type string/,
  ],
  [
    { oneOf: [{ type: 'string' }, { minLength: 0 }] },
    'a',
    /must validate one and only one schema \(oneOf\)\. Found 2 valid alternatives$/,
  ],
  [{ not: { type: 'string' } }, 'a', /must not validate the schema \(not\)$/],
  [{ type: 'string', nullable: true }, null, undefined],
  [{ 'x-kubernetes-int-or-string': true }, 1, undefined],
  [{ 'x-kubernetes-int-or-string': true }, true, /must be of type integer,string: "boolean"$/],
]
const errorsOf = (check: Check, value: JsonValue, path = '', slice: Slice = endlessSlice): FieldError[] => {
  const validation = validateValue(check, value, path, undefined, slice)
  let step = validation.next()
  while (step.done !== true) step = validation.next()
  return step.value
}

for (const [schema, value, wanted] of values)
  test(`the value ${JSON.stringify(value)} against ${JSON.stringify(schema)}`, () => {
    const [error] = errorsOf(valueCheck(schema), value, 'v').map(fieldErrorText)
    if (wanted instanceof RegExp) match(error ?? '', wanted)
    else equal(error, wanted)
  })

test('a validation with many patterns and long texts is interrupted, and has the same errors', () => {
  const random = seededRandom(1)
  const text = Array.from({ length: 2_000 }, () => 'ab'[random.below(2)]).join('')
  const patterns = Array.from({ length: 10 }, (_, index) => `(a|b)*a(a|b){${index + 20}}c$`)
  const properties = Object.fromEntries(patterns.map((pattern, index) => [`p${index}`, { type: 'string', pattern }]))
  const object = Object.fromEntries(patterns.map((_, index) => [`p${index}`, `${text}${index % 2 === 0 ? 'c' : 'cx'}`]))
  let checks = 0
  const slice = { isUsedUp: () => ++checks > 0 }
  const check = valueCheck({ type: 'object', properties })
  const validation = validateValue(check, object, '', undefined, slice)
  let yields = 0
  let step = validation.next()
  for (; step.done !== true; step = validation.next()) yields++
  equal(yields, checks, 'every check of the slice interrupts the validation')
  ok(yields > 2 * patterns.length, `${yields} interruptions`)
  ok(step.value.length >= 5, 'the text must end with c')
  deepEqual(step.value, errorsOf(valueCheck({ type: 'object', properties }), object))
})

test('large enumerations, many required names and wide objects', () => {
  const names = Array.from({ length: 100_000 }, (_, index) => `n${index}`)
  const object = Object.fromEntries(names.map((name) => [name, name]))
  const check = valueCheck({ type: 'object', required: names, additionalProperties: { type: 'string', enum: names } })
  equal(errorsOf(check, object).length, 0)
  equal(errorsOf(check, { ...object, n5: 'x', n6: 'y' }).length, 2)
})
