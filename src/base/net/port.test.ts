import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { parsePort } from './port.ts'

for (const port of [1, 80, 65_535]) test(`${port} is a port`, () => equal(parsePort(port), port))
for (const port of [0, -1, 65_536, 1.5, Number.NaN, Infinity])
  test(`${port} is not a port`, () => equal(parsePort(port), undefined))
