import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { goQuoted } from './go-quoted.ts'

const rows: [text: string, quoted: string][] = [
  ['a b', '"a b"'],
  ['é 世', '"é 世"'],
  ['"\\', String.raw`"\"\\"`],
  ['\u0007\b\f\n\r\t\v', String.raw`"\a\b\f\n\r\t\v"`],
  ['\u0000\u001B\u007F', String.raw`"\x00\x1b\x7f"`],
  ['\u00A0\u2028\uFEFF', String.raw`"\u00a0\u2028\ufeff"`],
  ['\u{E0001}', String.raw`"\U000e0001"`],
]
for (const [text, quoted] of rows) test(`${quoted} is quoted`, () => equal(goQuoted(text), quoted))
