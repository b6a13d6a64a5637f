import { equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { jsonText } from './exact-json.ts'
import { jsonCharactersMin } from './json-size.ts'

const values: readonly unknown[] = [
  null,
  true,
  0,
  -1.2345678901234e-300,
  12345678901234567890n,
  '',
  'text',
  '\u0000\u0001',
  'ä€😀',
  [],
  {},
  [1, 2, [null, {}]],
  { a: undefined, b: 1 },
  { metadata: { name: 'web', labels: { app: 'web' } }, spec: { replicas: 3, list: ['a', 'b', { c: '"' }] } },
]
for (const value of values) {
  const text = jsonText(value)
  test(`the lower bound of ${text}`, () => {
    const bytes = new TextEncoder().encode(text).length
    const count = jsonCharactersMin(value, Infinity)
    ok(count <= bytes, `${count} ${bytes}`)
  })
}

test('a value that is much larger as JSON is not walked to its end', () => {
  let visits = 0
  const part = {
    get text() {
      visits++
      return 'x'.repeat(1_000)
    },
  }
  ok(jsonCharactersMin({ list: Array.from({ length: 100_000 }, () => part) }, 100_000) > 100_000)
  equal(visits < 200, true)
})
