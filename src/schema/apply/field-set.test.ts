import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { emptySet, isWithin, type FieldSet } from './field-set.ts'

const nested: FieldSet = { 'f:a': { '.': {}, 'f:b': {} }, 'f:c': {} }

const cases: readonly (readonly [set: FieldSet, charactersMax: number, expected: boolean])[] = [
  [emptySet, 0, true],
  [nested, 10, true],
  [nested, 9, false],
  [nested, 3, false],
  [{ [`f:${'x'.repeat(100)}`]: {} }, 100, false],
]
for (const [set, charactersMax, expected] of cases)
  test(`${Object.keys(set).join(' ').slice(0, 20)} within ${charactersMax} characters: ${expected}`, () =>
    equal(isWithin(set, charactersMax), expected))
