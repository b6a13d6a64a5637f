import { equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { endlessSlice } from '../../../../base/work/work-slice.ts'
import { regex } from '../../../../cel/regex/regex.ts'
import { PatternSearches } from './pattern-searches.ts'

test('a validation that is repeated takes the results of its searches', () => {
  let isUsedUp = true
  const searches = new PatternSearches({ isUsedUp: () => isUsedUp })
  let attempts = 0
  const validate = (own: PatternSearches) => {
    attempts++
    return own.find(regex('^a+$'), 'a'.repeat(5_000)) && own.find(regex('b'), 'b')
  }
  equal(searches.attempt(validate), undefined)
  isUsedUp = false
  equal(searches.attempt(validate), true)
  equal(attempts, 2)
})

test('errors of a validation are thrown', () => {
  const failing = () => {
    throw new RangeError('failed')
  }
  throws(() => new PatternSearches(endlessSlice).attempt(failing), RangeError)
})
