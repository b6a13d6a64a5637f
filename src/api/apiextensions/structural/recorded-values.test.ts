// Schemas do to values what upstream does: the rows of test/facts/structural-*.json are its answers, recorded by
// test/record/structural-values.ts. Upstream reports the errors of an object's properties in random order.
import { deepEqual } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { DecodeError } from '../../../schema/decoding/decode.ts'
import type { JsonObject } from '../../../schema/json/json-value.ts'
import type { JsonSchemaProps } from '../schema/json-schema-props.ts'
import { structuralSchema, type StructuralSchema } from './structural-schema.ts'
import { errorsOf } from './structural-schema.harness.ts'

type Outcome = { readonly stored?: unknown } | readonly string[] | string
type Case = readonly [value: string, outcome: Outcome]

const facts = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../../../../test/facts/${name}.json`, import.meta.url), 'utf8'))

const objectWith = (value: string): JsonObject =>
  JSON.parse(`{"apiVersion":"example.com/v1","kind":"Bar","metadata":{"name":"a"},"v":${value}}`) as JsonObject

/** An object that was stored before the schema, as it is read. */
const storedWith = (schema: StructuralSchema, value: string): JsonObject =>
  schema.withDefaults(schema.prune(objectWith(value), true).value)

function outcomeOf(schema: StructuralSchema, value: string, old?: string): Outcome {
  try {
    const { value: object } = schema.prune(schema.withDefaults(objectWith(value)))
    const errors = errorsOf(schema, object, old === undefined ? undefined : storedWith(schema, old))
    if (errors.length > 0) return errors.map(({ reason, field, message }) => `${reason} ${field}: ${message}`)
    return object['v'] === undefined ? {} : { stored: object['v'] }
  } catch (error) {
    if (error instanceof DecodeError) return error.message
    throw error
  }
}

/** The errors of an object's properties in order. */
const ordered = (outcome: Outcome, value: string): Outcome =>
  Array.isArray(outcome) && value.startsWith('{') ? outcome.toSorted() : outcome

for (const [schema, cases] of facts('structural-values') as [JsonSchemaProps, Case[]][])
  test(`values of ${JSON.stringify(schema)}`, () => {
    const structural = structuralSchema({ type: 'object', properties: { v: schema } })
    for (const [value, outcome] of cases)
      deepEqual(ordered(outcomeOf(structural, value), value), ordered(outcome, value), value)
  })

for (const [schema, old, cases] of facts('structural-updates') as [JsonSchemaProps, string, Case[]][])
  test(`updates of ${old} with ${JSON.stringify(schema)}`, () => {
    const structural = structuralSchema({ type: 'object', properties: { v: schema } })
    for (const [value, outcome] of cases)
      deepEqual(ordered(outcomeOf(structural, value, old), value), ordered(outcome, value), value)
  })
