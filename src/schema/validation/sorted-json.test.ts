import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonValue } from '../json/json-value.ts'
import { sortedJson } from './sorted-json.ts'

const rows: [value: JsonValue, text: string][] = [
  [{ b: 1, a: { d: null, c: [true] } }, '{"a":{"c":[true],"d":null},"b":1}'],
  [['<'], String.raw`["\u003c"]`],
  [{ '&': 'x' }, String.raw`{"\u0026":"x"}`],
]
for (const [value, text] of rows)
  test(`${JSON.stringify(value)} is written as ${text}`, () => equal(sortedJson(value), text))
