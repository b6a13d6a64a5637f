import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { structuralType } from './structural-type.ts'

test('limits that a double does not represent are rounded', () => {
  const limit = 2n ** 60n + 1n
  const text = { type: 'string', maxLength: limit }
  for (const schema of [
    text,
    { type: 'string', format: 'byte', maxLength: limit },
    { type: 'array', maxItems: limit, items: text },
    { type: 'object', maxProperties: limit, additionalProperties: text },
  ]) {
    const type = structuralType(schema, 'selfType', false)?.type
    equal(type !== undefined && 'maxElements' in type && type.maxElements >= 2 ** 60, true)
  }
})
