import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { warningHeaders } from './warning-headers.ts'

const cases: [why: string, warnings: string[], headers: string[]][] = [
  ['one', ['a "b"'], ['299 - "a \\"b\\""']],
  ['duplicates', ['a', 'b', 'a'], ['299 - "a"', '299 - "b"']],
  ['in UTF-8', ['é'], ['299 - "Ã©"']],
  ['long, but within the limit', ['x'.repeat(4_000)], [`299 - "${'x'.repeat(4_000)}"`]],
  ['too long', ['x'.repeat(5_000), 'y'], [`299 - "${'x'.repeat(256)}"`, '299 - "y"']],
]
for (const [why, warnings, headers] of cases)
  test(`warnings: ${why}`, () => deepEqual(warningHeaders(warnings), headers))

test('warnings beyond the total size are omitted', () => {
  const headers = warningHeaders(Array.from({ length: 40_000 }, (_, index) => `${index}`.padEnd(300, '.')))
  equal(headers.length, 16)
  equal(headers[0]?.length, '299 - ""'.length + 256)
})
