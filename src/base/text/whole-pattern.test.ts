import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { wholePattern } from './whole-pattern.ts'

test('the whole text must match', () => {
  const pattern = wholePattern('[a-z]+')
  for (const [text, matches] of [
    ['abc', true],
    ['abc1', false],
    ['1abc', false],
    ['', false],
  ] as const)
    equal(pattern.test(text), matches, text)
})
