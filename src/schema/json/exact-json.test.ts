import { deepEqual, equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { jsonText, parseJson, parseJsonInRange } from './exact-json.ts'

const rows: [text: string, value: unknown][] = [
  ['9007199254740991', 9_007_199_254_740_991],
  ['9007199254740992', 9_007_199_254_740_992n],
  ['9007199254740993', 9_007_199_254_740_993n],
  ['-9007199254740993', -9_007_199_254_740_993n],
  ['9223372036854775807', 9_223_372_036_854_775_807n],
  ['-9223372036854775808', -9_223_372_036_854_775_808n],
  // Beyond 64 bits, and with a point or an exponent, a number is a double.
  ['9223372036854775808', 2 ** 63],
  ['9007199254740993.0', 2 ** 53],
  ['1e17', 1e17],
  ['0.1234567890123456789', 0.123_456_789_012_345_68],
  [
    '{"a":[1,9007199254740993,{"b":-9007199254740993}],"c":"9007199254740993"}',
    { a: [1, 9_007_199_254_740_993n, { b: -9_007_199_254_740_993n }], c: '9007199254740993' },
  ],
  ['"123456789012345678901234567890"', '123456789012345678901234567890'],
]

for (const [text, value] of rows) test(`${text} is read exactly`, () => deepEqual(parseJson(text), value))

for (const text of ['1e400', '-1E+400', '[1,1e309]', '{"a":1.5e400}', `{"a": ${'9'.repeat(400)}}`])
  test(`${text.slice(0, 20)} is out of range`, () => {
    throws(() => parseJsonInRange(text), { name: 'NumberRangeError' })
  })

for (const text of ['1e308', '1e-400', '"1e400"', '{"uid":"-1e400","a":"x:1e400"}'])
  test(`${text} is in range`, () => deepEqual(parseJsonInRange(text), JSON.parse(text)))

test('an integer is found at every position of a text', () => {
  for (let spaces = 0; spaces < 40; spaces++)
    deepEqual(parseJson(`${' '.repeat(spaces)}[12345678901234567]`), [12_345_678_901_234_567n])
})

test('an integer is found after runs of digits in strings, however long they are', () => {
  for (let digits = 1; digits < 40; digits++)
    deepEqual(parseJson(`["a${'1'.repeat(digits)}",12345678901234567]`), [
      `a${'1'.repeat(digits)}`,
      12_345_678_901_234_567n,
    ])
  // Reading it for each of its positions would take minutes.
  const long = `a${'1'.repeat(4 << 20)}`
  deepEqual(parseJson(JSON.stringify([long])), [long])
})

test('a property called __proto__ is read as one', () =>
  deepEqual(Object.entries(parseJson('{"__proto__":9007199254740993}') as object), [
    ['__proto__', 9_007_199_254_740_993n],
  ]))

test('integers are written with all their digits', () =>
  equal(jsonText({ a: [9_007_199_254_740_993n, 1.5], b: undefined, c: -1n }), '{"a":[9007199254740993,1.5],"c":-1}'))

test('a value that JSON does not support is rejected', () => {
  const cycle: Record<string, unknown> = {}
  cycle['self'] = cycle
  throws(() => jsonText(cycle), TypeError)
  throws(
    () =>
      jsonText({
        toJSON() {
          throw new RangeError('no')
        },
      }),
    RangeError,
  )
})
