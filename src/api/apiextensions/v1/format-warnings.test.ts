import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import type { CustomResourceDefinition } from './custom-resource-definition.ts'
import { formatWarnings } from './format-warnings.ts'

const definitionOf = (...schemas: readonly object[]): CustomResourceDefinition =>
  ({ spec: { versions: schemas.map((schema) => ({ schema: { openAPIV3Schema: schema } })) } }) as never

const field = (schema: object) => ({ type: 'object', properties: { a: schema } })

const rows: readonly (readonly [name: string, schema: object, formats: readonly string[]])[] = [
  ['known formats of strings', field({ type: 'string', format: 'date-time' }), []],
  ['formats of numbers', field({ type: 'integer', format: 'int32' }), []],
  ['a format of numbers for a string', field({ type: 'string', format: 'int32' }), ['int32']],
  ['an unknown format', field({ type: 'string', format: 'x' }), ['x']],
  ['items and alternatives', field({ type: 'array', items: { type: 'string', anyOf: [{ format: 'y' }] } }), ['y']],
  ['values of a map', field({ type: 'object', additionalProperties: { type: 'string', format: 'z' } }), ['z']],
]

for (const [name, schema, formats] of rows)
  test(`warnings about formats: ${name}`, () => {
    const warnings = formats.map((format) => `unrecognized format "${format}"`)
    deepEqual(formatWarnings(definitionOf(schema)), warnings)
    deepEqual(formatWarnings(definitionOf(schema, schema)), warnings, 'each once')
    deepEqual(formatWarnings(definitionOf(schema), definitionOf(schema)), [], 'only new ones')
  })
