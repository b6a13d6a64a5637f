import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { cellsOf, fitted, padded, widthOf } from './cells.ts'

const rows: [what: string, text: string, shown: string, width: number][] = [
  ['ASCII', 'web-0', 'web-0', 5],
  ['an escape sequence', '\x1b[2Jweb', '^[[2Jweb', 8],
  ['an operating system command', '\x1b]0;title\x07', '^[]0;title^G', 12],
  ['line breaks', 'a\r\nb', 'a^M^Jb', 6],
  ['a tabulator', 'a\tb', 'a b', 3],
  ['delete and a C1 control', '\x7f\x9b', '^?\ufffd', 3],
  ['a bidirectional override', 'a\u202eb', 'a\ufffdb', 3],
  ['a zero-width joiner', 'a\u200db', 'a\ufffdb', 3],
  ['a line separator', 'a\u2028b', 'a\ufffdb', 3],
  ['a lone surrogate', 'a\ud800', 'a\ufffd', 2],
  ['wide characters', '日本', '日本', 4],
  ['a pictograph', '🚀', '🚀', 2],
  ['a pictograph that is not wide', '🌡', '🌡', 1],
  ['a flag', '🇩🇪', '🇩🇪', 2],
  ['a vertical form', '︐', '︐', 2],
  ['umlauts', 'Größe', 'Größe', 5],
  ['a combining mark', 'e\u0301', 'e\u0301', 1],
  ['a stack of combining marks', 'e\u0301\u0302\u0303\u0304x', 'e\u0301\u0302x', 2],
  ['a mark without a character', '\u0301x', '\ufffdx', 2],
]
for (const [what, text, shown, width] of rows)
  test(`cells of ${what}`, () => {
    equal(
      cellsOf(text)
        .map((cell) => cell.text)
        .join(''),
      shown,
    )
    equal(widthOf(text), width)
  })

test('text is cut to columns, not to characters', () => {
  deepEqual(
    [
      fitted('abcdef', 4),
      fitted('abcd', 4),
      fitted('日本語', 4),
      fitted('日本', 4),
      fitted('abc', 1),
      fitted('abc', 0),
    ],
    ['abc…', 'abcd', '日…', '日本', '…', ''],
  )
  deepEqual([padded('ab', 4), padded('日', 4, 'right'), padded('日本語', 4)], ['ab  ', '  日', '日… '])
})
