import { equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { endlessSlice } from '../../../../base/work/work-slice.ts'
import { regex } from '../../../../cel/regex/regex.ts'
import { currentSearches, PatternSearches, withSearches } from './pattern-searches.ts'

test('a validation that is repeated takes the results of its searches', () => {
  let isUsedUp = true
  const searches = new PatternSearches({ isUsedUp: () => isUsedUp })
  let attempts = 0
  const validate = () => {
    attempts++
    return currentSearches().find(regex('^a+$'), 'a'.repeat(5_000)) && currentSearches().find(regex('b'), 'b')
  }
  equal(withSearches(searches, validate), undefined)
  isUsedUp = false
  equal(withSearches(searches, validate), true)
  equal(attempts, 2)
})

test('errors of a validation are thrown, and patterns are searched during a validation only', () => {
  const failing = () => {
    throw new RangeError('failed')
  }
  throws(() => withSearches(new PatternSearches(endlessSlice), failing), RangeError)
  throws(currentSearches, /outside a validation/)
})
