import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { goJson } from './go-json.ts'

const rows: [value: unknown, text: string][] = [
  [{ a: [1, 'b'] }, '{"a":[1,"b"]}'],
  ['<a & b>', String.raw`"\u003ca \u0026 b\u003e"`],
  ['\u2028"', String.raw`"\u2028\""`],
]
for (const [value, text] of rows)
  test(`${JSON.stringify(value)} is written as ${text}`, () => equal(goJson(value), text))
