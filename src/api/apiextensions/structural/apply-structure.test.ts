// The fields that an apply owns, or its errors: the rows of test/facts/structural-applies.json are upstream's answers.
import { deepEqual, equal } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { appliedFields } from '../../../schema/apply/applied-fields.ts'
import { checkApplied } from '../../../schema/apply/check-applied.ts'
import { compare } from '../../../schema/apply/compare.ts'
import { removeFields } from '../../../schema/apply/remove-fields.ts'
import { typedMerge } from '../../../schema/apply/typed-merge.ts'
import type { JsonSchemaProps } from '../schema/json-schema-props.ts'
import { structuralSchema } from './structural-schema.ts'

type Case = readonly [value: string, outcome: { readonly owned?: unknown } | readonly string[]]
const facts = readFileSync(new URL('../../../../test/facts/structural-applies.json', import.meta.url), 'utf8')

for (const [schema, cases] of JSON.parse(facts) as [JsonSchemaProps, Case[]][])
  test(`applies of ${JSON.stringify(schema)}`, () => {
    const { structure } = structuralSchema({ type: 'object', properties: { v: schema } })
    for (const [value, outcome] of cases) {
      const applied = JSON.parse(`{"v":${value}}`) as { readonly v: string }
      const errors = checkApplied(structure, applied)
      const owned = appliedFields(structure, applied)['f:v']
      deepEqual(errors.length > 0 ? errors : owned === undefined ? {} : { owned }, outcome, value)
    }
  })

const open = structuralSchema({
  type: 'object',
  'x-kubernetes-preserve-unknown-fields': true,
  properties: { list: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' } },
})

test('objects that preserve unknown fields are compared and merged with them', () => {
  const { structure } = open
  const old = { list: ['a'], other: { x: 1, y: 1 }, gone: { z: 1 } }
  const next = { list: ['a', 'b'], other: { x: 2, y: 1 }, constructor: 1 }
  deepEqual(compare(structure, old, next), {
    changed: { 'f:constructor': {}, 'f:list': { 'v:"b"': {} }, 'f:other': { 'f:x': {} } },
    removed: { 'f:gone': { '.': {}, 'f:z': {} } },
  })
  deepEqual(typedMerge(structure, old, { list: ['b'], other: { x: 3 } }), {
    list: ['a', 'b'],
    other: { x: 3, y: 1 },
    gone: { z: 1 },
  })
  deepEqual(removeFields(structure, old, { 'f:gone': { '.': {}, 'f:z': {} }, 'f:list': { 'v:"a"': {} } }), {
    list: null,
    other: { x: 1, y: 1 },
  })
})

test('the structure is derived once', () => equal(open.structure, open.structure))
