import { deepEqual, equal, throws } from 'node:assert/strict'
import { suite, test } from 'node:test'
import { PatternBudget, PatternWorkExceeded, patternWorkMax, textPattern, type TextPattern } from './text-pattern.ts'

const compiled = (source: string): TextPattern => {
  const pattern = textPattern(source)
  if (typeof pattern === 'string') throw new Error(pattern)
  return pattern
}

const cases: readonly (readonly [string, string, boolean])[] = [
  ['/v[0-9]+/.*', '/v12/x', true],
  ['/v[0-9]+', '/v12/x', false],
  ['v[0-9]+', '/v12', false],
  ['a|ab', 'ab', true],
  ['', '', true],
  ['', 'a', false],
  ['(?i)blue', 'BLUE', true],
]

suite('a pattern matches the whole text', () => {
  for (const [source, text, expected] of cases)
    test(`${source} ${expected ? 'matches' : 'does not match'} ${text}`, () =>
      equal(compiled(source).matches(text, new PatternBudget()), expected))
})

test('a pattern that is not valid, or too large, is not supported', () => {
  const reasons = ['a)(b', '(?=a)', '[a', '(?:ab){600}'].map((source) => {
    const pattern = textPattern(source)
    return typeof pattern === 'string' ? pattern.split(/:| to more/)[0] : 'supported'
  })
  deepEqual(reasons, [...Array<string>(3).fill('a regular expression is not valid'), 'a regular expression expands'])
})

test('the patterns of one request share a budget', () => {
  const pattern = compiled('[a-z]*')
  const budget = new PatternBudget()
  const text = 'a'.repeat(10_000)
  let matched = 0
  throws(() => {
    for (;;) if (pattern.matches(text, budget)) matched++
  }, PatternWorkExceeded)
  equal(matched > 1 && matched * text.length <= patternWorkMax, true)
})
