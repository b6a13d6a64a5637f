import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { withoutTrailing } from './without-trailing.ts'

const rows: [text: string, characters: string, rest: string][] = [
  ['YQ==', '=', 'YQ'],
  ['a=b', '=', 'a=b'],
  ['===', '=', ''],
  ['', '=', ''],
  ['web-.-', '-.', 'web'],
]
for (const [text, characters, rest] of rows)
  test(`${text} without trailing ${characters}`, () => equal(withoutTrailing(text, characters), rest))
