// Patterns: what they match, compared with the library, and that hostile ones end.
import { equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { fuzz, pick } from '../../../base/random/fuzz.harness.ts'
import type { Random } from '../../../base/random/random.ts'
import { regex } from '../../../cel/regex/regex.ts'
import { patternSize } from '../../../cel/regex/pattern-size.ts'
import { patternError } from './schema-pattern.ts'

function find(pattern: string, text: string): boolean {
  const search = regex(pattern).program.search(text)
  let step = search.next()
  while (step.done !== true) step = search.next()
  return step.value
}

const rows: [pattern: string, matching: string[], others: string[]][] = [
  ['b', ['abc', 'b'], ['', 'ac']],
  ['^a+$', ['a', 'aaa'], ['', 'ab', 'a\n']],
  ['(?m)^a$', ['b\na\nc'], ['ba']],
  [String.raw`\bfoo\b`, ['a foo b', 'foo'], ['foobar']],
  [String.raw`^\PL$`, ['1', '-'], ['é', 'a']],
  ['(?i)^straße$', ['STRAßE'], ['strasse']],
  ['^.{2}$', ['😀é'], ['a', '😀\n']],
  ['^[^a-c]*$', ['xyz', ''], ['xaz']],
]
for (const [pattern, matching, others] of rows)
  test(`texts that match ${pattern}`, () => {
    for (const text of matching) equal(find(pattern, text), true, text)
    for (const text of others) equal(find(pattern, text), false, text)
  })

const parts = [
  'a',
  'b',
  '.',
  '[ab]',
  '[^a]',
  String.raw`\b`,
  '^',
  '$',
  'a*',
  'b+?',
  '(a|b)',
  '(?:ab)*',
  'a{2,3}',
  '|',
  String.raw`\pL`,
  '(?i)A',
  '\n',
]
const randomText = (random: Random) =>
  Array.from({ length: random.below(8) }, () => pick(random, ['a', 'b', 'A', ' ', '\n', 'é', '😀'])).join('')

fuzz('patterns match what the library matches', {
  runs: 3_000,
  make: (random) => ({
    pattern: Array.from({ length: random.below(5) }, () => pick(random, parts)).join(''),
    text: randomText(random),
  }),
  check({ pattern, text }) {
    if (patternError(pattern) === undefined) equal(find(pattern, text), regex(pattern).library.test(text))
  },
})

const hostile = [
  '(a+)+$',
  '(a|b)*a(a|b){100}c$',
  '[ab]*a[ab]{500}[ab]*c$',
  '(.*a.{15}){3}x$',
  '(?:a?){500}a{500}$',
  '(x{0,1000})y$',
]
for (const pattern of hostile)
  test(`the search of ${pattern} in a long text is interrupted regularly`, () => {
    const text = Array.from({ length: 20_000 }, (_, index) => 'ab'[((index * index) >> 3) & 1]).join('')
    const search = regex(pattern).program.search(`${text}cx`)
    let yields = 0
    while (search.next().done !== true) yields++
    ok(yields >= 2, `${yields} interruptions`)
  })

const sizes: [pattern: string, size: number][] = [
  ['abc', 3],
  ['a{3}', 6],
  ['(ab){10}', 40],
  ['[a-z{9}]', 1],
  [String.raw`\{3}`, 3],
  ['((a{10}){10}){10}', 2_220],
]
for (const [pattern, size] of sizes) test(`${pattern} has the size ${size}`, () => equal(patternSize(pattern), size))

test('patterns that Go would not compile, or that are too large, are rejected', () => {
  equal(patternError('a{0,1000}'.repeat(50)), 'expands to more than 5000 instructions')
  ok(patternError('(')?.includes('missing closing )'))
  ok(patternError('(?<=a)b')?.startsWith('error parsing regexp: '))
  equal(patternError('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$'), undefined)
})
