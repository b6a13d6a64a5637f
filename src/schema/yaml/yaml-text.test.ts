// Values and the YAML that upstream writes for them (test/custom-resources/exchanges/yaml-responses.jsonl has more).
import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonValue } from '../json/json-value.ts'
import { yamlText } from './yaml-text.ts'

const word = 'x'.repeat(30)
const longKey = 'k'.repeat(129)
const two = `${word} ${word}`

const cases: [name: string, value: JsonValue, lines: readonly string[]][] = [
  ['an empty object', {}, ['{}']],
  ['an empty list', [], ['[]']],
  ['keys are sorted', { b: 1, a: 2, a10: 3, a9: 4 }, ['a: 2', 'a9: 4', 'a10: 3', 'b: 1']],
  ['undefined fields are left out', { a: undefined, b: null, c: true }, ['b: null', 'c: true']],
  ['items are at the indentation of their key', { a: ['x', 'z'] }, ['a:', '- x', '- z']],
  ['an object begins on the line of its dash', { a: [{ b: 1, c: {} }] }, ['a:', '- b: 1', '  c: {}']],
  ['lists in lists', [[1, [2]], [], [{ a: [3] }]], ['- - 1', '  - - 2', '- []', '- - a:', '    - 3']],
  ['objects in objects', { a: { b: { c: 1 } }, d: [] }, ['a:', '  b:', '    c: 1', 'd: []']],
  ['quoted keys', { no: 1, '': 2, 'a: b': 3 }, ['"": 2', "'a: b': 3", '"no": 1']],
  ['a long key', { [longKey]: { a: 1 } }, [`? ${longKey}`, ': a: 1']],
  ['a long key of a list', { a: { [longKey]: [1, 2] } }, ['a:', `  ? ${longKey}`, '  : - 1', '    - 2']],
  ['a key of two lines', { 'a\nb': 'c' }, ['? |-', '  a', '  b', ': c']],
  [
    'integers',
    [1, -5, 2 ** 53 - 1, 9007199254740993n, 1e19],
    ['- 1', '- -5', '- 9007199254740991', '- 9007199254740993', '- 10000000000000000000'],
  ],
  ['floats', [0.5, 1e-7, 1234567.5, 1e20, -1e19], ['- 0.5', '- 1e-07', '- 1.2345675e+06', '- 1e+20', '- -1e+19']],
  ['texts of other types', ['1', 'true', ''], ['- "1"', '- "true"', '- ""']],
  [
    'texts with indicators',
    ['- a', "'", 'a #b', '%', '---', 'a:'],
    ["- '- a'", "- ''''", "- 'a #b'", "- '%'", "- '---'", "- 'a:'"],
  ],
  ['texts with blanks at their ends', [' a', 'a ', ' '], ["- ' a'", "- 'a '", "- ' '"]],
  [
    'texts that need no quotes',
    ['-a', ':a', 'a#b', "it's", 'ä 日本', 'a, b'],
    ['- -a', '- :a', '- a#b', "- it's", '- ä 日本', '- a, b'],
  ],
  [
    'texts with escapes',
    ['\t"\\', '\u0001', '😀', '\ufeff', '\u0085'],
    ['- "\\t\\"\\\\"', '- "\\x01"', '- "\\U0001F600"', '- "\\uFEFF"', '- "\\N"'],
  ],
  ['lines', { a: 'x\ny' }, ['a: |-', '  x', '  y']],
  ['lines with a line break at the end', ['x\n', 'z'], ['- |', '  x', '- z']],
  ['lines with several line breaks at the end', { a: 'x\n\n' }, ['a: |+', '  x', '']],
  ['only line breaks', ['\n', '\n\n', 'a'], ['- |2+', '', '- |2+', '', '', '- a']],
  ['lines that begin with a blank', { a: ' x\ny\n' }, ['a: |2', '   x', '  y']],
  ['lines with blanks at their ends', ['x \ny', 'x\ny ', 'x\ty\n'], ['- "x \\ny"', '- "x\\ny "', '- "x\\ty\\n"']],
  ['line separators', ['a\u2028b', '\u2029 a'], ["- 'a\u2028  b'", '- "\\P a"']],
  ['a long plain text', { a: `${two} ${two}` }, [`a: ${two} ${word}`, `  ${word}`]],
  ['a long text in single quotes', { a: `${two} ${word}: ${word}` }, [`a: '${two} ${word}:`, `  ${word}'`]],
  ['a long text in double quotes', { a: `\t${two} ${word}  "` }, [`a: "\\t${two} ${word}`, '  \\ \\""']],
  ['two spaces are no place for a line break', { a: `${two} ${word}  ${word}` }, [`a: ${two} ${word}  ${word}`]],
  ['the first and the last space are kept in quotes', [`${two} ${word} `], [`- '${two} ${word} '`]],
  ['a long word', ['x'.repeat(100)], [`- ${'x'.repeat(100)}`]],
  ['long lines of a block', [`${two} ${two}\n`], ['- |', `  ${two} ${two}`]],
]
for (const [name, value, lines] of cases)
  test(name, () => equal(yamlText(value), lines.map((line) => `${line}\n`).join('')))
