// Invariants of structural schemas, for random schemas and random objects: hostile names, wrong types, any nesting.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { fuzz, pick, randomJson, rejectedOnlyWith } from '../../../base/random/fuzz.harness.ts'
import type { Random } from '../../../base/random/random.ts'
import { appliedFields } from '../../../schema/apply/applied-fields.ts'
import { checkApplied } from '../../../schema/apply/check-applied.ts'
import { DecodeError } from '../../../schema/decoding/decode.ts'
import type { JsonObject, JsonValue } from '../../../schema/json/json-value.ts'
import type { JsonSchemaProps } from '../schema/json-schema-props.ts'
import { structuralSchema } from './structural-schema.ts'
import { errorsOf } from './structural-schema.harness.ts'

const names = ['a', 'b', 'kind', 'metadata', 'spec', '__proto__', 'constructor', 'toString', '', `');throw 1;('`, '"]}']
const types = ['string', 'integer', 'number', 'boolean', 'object', 'array', undefined]
const patterns = ['^a', '(a+)+$', '(', String.raw`\p{L}`, "');throw 1;('"]

/** Keywords are combined at random; most schemas would not be accepted in a definition. */
function randomSchema(random: Random, depth = 0): JsonSchemaProps {
  const maybe = <T>(value: () => T, oneIn = 4): T | undefined => (random.below(oneIn) === 0 ? value() : undefined)
  const inner = () => randomSchema(random, depth + 1)
  const some = () => Array.from({ length: random.below(3) }, inner)
  const isDeep = depth > 3
  return withoutUndefined({
    type: pick(random, types),
    format: maybe(() => pick(random, ['date', 'int32', 'uri', 'email', 'toString'])),
    default: maybe(() => randomJson(random, 3)),
    enum: maybe(() => [randomJson(random, 4), 1, 'a'], 8),
    nullable: maybe(() => true),
    minimum: maybe(() => random.below(4)),
    maximum: maybe(() => random.below(4) + 0.5),
    multipleOf: maybe(() => random.below(3)),
    maxLength: maybe(() => random.below(3)),
    minLength: maybe(() => random.below(3)),
    pattern: maybe(() => pick(random, patterns)),
    maxItems: maybe(() => random.below(3)),
    minProperties: maybe(() => random.below(3)),
    required: maybe(() => [pick(random, names)]),
    'x-kubernetes-preserve-unknown-fields': maybe(() => true),
    'x-kubernetes-embedded-resource': maybe(() => true, 8),
    'x-kubernetes-int-or-string': maybe(() => true, 8),
    'x-kubernetes-list-type': maybe(() => pick(random, ['set', 'map', 'atomic'])),
    'x-kubernetes-list-map-keys': maybe(() => [pick(random, names)]),
    'x-kubernetes-map-type': maybe(() => 'atomic', 8),
    ...(isDeep
      ? {}
      : {
          properties: maybe(
            () => Object.fromEntries(names.filter(() => random.below(3) === 0).map((name) => [name, inner()])),
            2,
          ),
          additionalProperties: maybe(() => pick(random, [true, false, inner()])),
          items: maybe(inner, 2),
          allOf: maybe(some, 8),
          anyOf: maybe(some, 8),
          oneOf: maybe(some, 8),
          not: maybe(inner, 8),
        }),
  })
}

const withoutUndefined = (schema: object): JsonSchemaProps =>
  Object.fromEntries(Object.entries(schema).filter(([, value]) => value !== undefined))

/** Random values have random names; half of them follow the schema's properties. */
function randomObject(random: Random, schema: JsonSchemaProps): JsonObject {
  const declared = Object.entries(schema.properties ?? {}).filter(() => random.below(2) === 0)
  const others = names.filter(() => random.below(4) === 0)
  return Object.fromEntries([
    ...others.map((name) => [name, randomJson(random)]),
    ...declared.map(([name, property]) => [
      name,
      random.below(2) === 0 ? randomObject(random, property) : randomJson(random),
    ]),
  ]) as JsonObject
}

fuzz('structural schemas', {
  runs: 1_000,
  make(random) {
    const schema = randomSchema(random)
    return { schema, object: randomObject(random, schema), old: randomObject(random, schema) }
  },
  check({ schema: source, object, old }) {
    const before = JSON.stringify([source, object])
    const schema = structuralSchema(source)

    const filled = schema.withDefaults(object)
    equal(schema.withDefaults(filled), filled, 'defaulting again changes nothing')
    equal(schema.withDefaults(filled, true), filled)

    const stored = schema.prune(object, true)
    equal(schema.prune(stored.value, true).value, stored.value, 'pruning again changes nothing')
    equal(stored.value === object, JSON.stringify(stored.value) === JSON.stringify(object))
    const pruned = rejectedOnlyWith([DecodeError], () => schema.prune(object))
    if (pruned !== undefined) equal(schema.prune(pruned.value).value, pruned.value)

    // Metadata of embedded resources is decoded before it is validated.
    const errors = errorsOf(schema, stored.value)
    for (const { field, message } of errors) ok(typeof field === 'string' && message !== '')
    const excused = errorsOf(schema, stored.value, schema.prune(old, true).value)
    ok(excused.length <= errors.length, 'an old object excuses errors and causes none')
    deepEqual(texts(errorsOf(schema, stored.value)), texts(errors))

    if (checkApplied(schema.structure, object).length === 0) appliedFields(schema.structure, object)
    equal(JSON.stringify([source, object]), before, 'neither the schema nor the object is mutated')
    equal((Object.prototype as { polluted?: unknown }).polluted, undefined)
  },
})

const texts = (errors: readonly { readonly field: string; readonly message: string }[]): JsonValue[] =>
  errors.map(({ field, message }) => `${field}: ${message}`)
