// Paths into a schema, as upstream accepts and rejects them.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonSchemaProps } from './json-schema-props.ts'
import { resolveFieldPath } from './schema-paths.ts'

const schema: JsonSchemaProps = {
  properties: {
    a: { properties: { b: { type: 'string' }, 'x.y': { type: 'string' } } },
    m: { additionalProperties: { properties: { c: { type: 'integer' } } } },
    l: { items: { type: 'string' } },
  },
}
const notAField = 'does not refer to a valid field'
const noArrays = 'array notation is not allowed'
const atEnd = 'unexpected end of JSON path'

/** The field path that is found, or why there is none: with brackets, as in rules, and without, as in selectable fields. */
const cases: readonly (readonly [path: string, inRule: string, inSelectableField: string])[] = [
  ['.a.b', 'a.b', 'a.b'],
  ['.a.c', notAField, notAField],
  ['.m.key', 'm[key]', 'm[key]'],
  ['.m.key.c', 'm[key].c', 'm[key].c'],
  [".m['any key'].c", 'm[any key].c', noArrays],
  [".a['x.y']", 'a.x.y', noArrays],
  ["['a'].b", 'a.b', noArrays],
  [".m['it\\'s']", "m[it's]", noArrays],
  [".m['a\\nb']", 'm[a\nb]', noArrays],
  [".m['a\\qb']", "expected [ or . but got: ['a\\qb']", noArrays],
  ['.l[0]', 'expected [ or . but got: [0]', noArrays],
  ['.x[0]', notAField, notAField],
  ['a.b', 'expected [ or . but got: a', 'expected [ or . but got: a'],
  ['.a]', 'expected [ or . but got: ]', 'expected [ or . but got: ]'],
  ['  .a', 'expected [ or . but got:   ', 'expected [ or . but got:   '],
  ['..b', notAField, notAField],
  ['.', atEnd, atEnd],
  ['.a.', atEnd, atEnd],
  ['', notAField, notAField],
]

for (const [path, inRule, inSelectableField] of cases)
  test(`the path ${JSON.stringify(path)}`, () => {
    const results = [resolveFieldPath(schema, path), resolveFieldPath(schema, path, 'dots')]
    const seen = results.map((found) => (found.kind === 'found' ? found.fieldPath : found.why))
    deepEqual(seen, [inRule, inSelectableField])
  })
