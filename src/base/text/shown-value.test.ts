import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { shownValue } from './shown-value.ts'

test('a value is quoted, and shortened if it is long', () => {
  equal(shownValue('a\n"b"'), '"a\\n\\"b\\""')
  equal(shownValue('a'.repeat(60)), `"${'a'.repeat(60)}"`)
  equal(shownValue('a'.repeat(61)), `"${'a'.repeat(60)}…"`)
})
