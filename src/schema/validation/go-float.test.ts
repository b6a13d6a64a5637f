import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { goFloat } from './go-float.ts'

const rows: [value: number, text: string][] = [
  [0, '0'],
  [5, '5'],
  [-1.5, '-1.5'],
  [0.0001, '0.0001'],
  [0.000_01, '1e-05'],
  [999_999.5, '999999.5'],
  [1e6, '1e+06'],
  [2_000_000.5, '2.0000005e+06'],
  [1.5e22, '1.5e+22'],
  [1e300, '1e+300'],
]
for (const [value, text] of rows) test(`${value} is written as ${text}`, () => equal(goFloat(value), text))
