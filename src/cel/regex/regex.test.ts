// Searches that can be interrupted find what the library finds.
import { deepEqual, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { fuzz, pick } from '../../base/random/fuzz.harness.ts'
import type { Random } from '../../base/random/random.ts'
import { programOf } from './instructions.ts'
import { MatchMachine, type Match } from './match-machine.ts'
import { regex } from './regex.ts'

const parts = ['a', 'b', '.', '[ab]', '[^a]', String.raw`\b`, '^', '$', 'a*', 'a*?', 'b+?', '(a|b)', '(ab|a)', '|']
parts.push('(?:ab)*', 'a{2,3}', String.raw`\pL`, '(?i)A', '\n', '(?m)^', '(?s).')

const randomText = (random: Random) =>
  Array.from({ length: random.below(10) }, () => pick(random, ['a', 'b', 'A', ' ', '\n', 'é', '😀'])).join('')

function firstMatch(pattern: string, text: string): Match | undefined {
  const steps = new MatchMachine(programOf(regex(pattern).library)).find(text, 0)
  let step = steps.next()
  while (step.done !== true) step = steps.next()
  return step.value
}

fuzz('the first match is that of the library', {
  runs: 3_000,
  make: (random) => ({
    pattern: Array.from({ length: random.below(5) }, () => pick(random, parts)).join(''),
    text: randomText(random),
  }),
  check({ pattern, text }) {
    const matcher = regex(pattern).library.matcher(text)
    const expected = matcher.find() ? { start: matcher.start(), end: matcher.end() } : undefined
    deepEqual(firstMatch(pattern, text), expected, JSON.stringify({ pattern, text }))
  },
})

/** Long enough that the library is not used. */
const filler = '-'.repeat(60_000)
const rows: [pattern: string, text: string, found: string[]][] = [
  ['a+', 'aa b a', ['aa', 'a']],
  ['a|ab', 'ab', ['a']],
  ['(ab|a)(c|bcd)', 'abcd', ['abc']],
  ['😀.', '😀é😀', ['😀é', '😀-']],
  ['x', '', []],
]
for (const [pattern, text, found] of rows)
  test(`the matches of ${pattern} in a long text`, () => {
    const long = `${text}${filler}`
    const matches = regex(pattern).matches(long)
    deepEqual(
      [...matches].flatMap((match) => (match === undefined ? [] : [long.slice(match.start, match.end)])),
      found,
    )
  })

const emptyMatches: [pattern: string, text: string, found: string[]][] = [
  ['a*', 'baac', ['', 'aa', '']],
  ['b*', 'abb', ['', 'bb']],
  ['', 'ab', ['', '', '']],
  ['a|', 'aab', ['a', 'a', '']],
]
for (const [pattern, text, found] of emptyMatches)
  test(`the matches of ${JSON.stringify(pattern)} in ${text} include empty ones, but not after a match`, () => {
    const of = (whole: string) =>
      [...regex(pattern).matches(whole)].flatMap((match) =>
        match === undefined ? [] : [whole.slice(match.start, match.end)],
      )
    deepEqual(of(text), found)
    const long = `${text}${'c'.repeat(60_000)}`
    deepEqual(of(long).slice(0, found.length - 1), found.slice(0, -1))
  })

test('a pattern that is too large is not compiled', () => {
  throws(() => regex('(a{1000}){10}'), /expands to more than 5000 instructions/)
})
