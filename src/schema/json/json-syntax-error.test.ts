import { equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { jsonSyntaxError } from './json-syntax-error.ts'

const end = 'unexpected end of JSON input'
const texts: [text: string, message: string][] = [
  ['', end],
  ['{', end],
  ['[', end],
  ['[1,', end],
  ['{"a', end],
  ['{"a"', end],
  ['[{"op":"add"', end],
  ['{"a"}', "invalid character '}' after object key"],
  ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
  ['{a:1}', "invalid character 'a' looking for beginning of object key string"],
  ['[1,]', "invalid character ']' looking for beginning of value"],
  ['[1 2]', "invalid character '2' after array element"],
  ['{"a":tru}', "invalid character '}' in literal true (expecting 'e')"],
  ['{"a":nul', "invalid character ' ' in literal null (expecting 'l')"],
  ['{} x', "invalid character 'x' after top-level value"],
  ['{"a":"\u0001"}', String.raw`invalid character '\x01' in string literal`],
  [String.raw`{"a":"\q"}`, "invalid character 'q' in string escape code"],
  [String.raw`{"a":"\u00g0"}`, String.raw`invalid character 'g' in \u hexadecimal character escape`],
  ['{"a":01}', "invalid character '1' after object key:value pair"],
  ['{"a":1.}', "invalid character '}' after decimal point in numeric literal"],
  ['-', "invalid character ' ' in numeric literal"],
  ['1e+x', "invalid character 'x' in exponent of numeric literal"],
  ["'a'", String.raw`invalid character '\'' looking for beginning of value`],
  ['ä', "invalid character 'Ã' looking for beginning of value"],
]
for (const [text, message] of texts)
  test(`${JSON.stringify(text)}: ${message}`, () => {
    throws(() => JSON.parse(text), SyntaxError)
    equal(jsonSyntaxError(text), message)
  })
