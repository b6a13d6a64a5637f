// Reviews and token requests: what they reject, and that they are never stored.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { fieldErrorText } from '../../../schema/validation/field-error.ts'
import { kinds, storedKinds } from '../../kinds.ts'
import { validateTokenRequest } from './token-request.ts'

test('reviews are served and not stored', () => {
  const reviews = kinds.filter(({ group }) => group.startsWith('auth')).map(({ kind }) => kind)
  deepEqual(reviews, [
    'SelfSubjectReview',
    'TokenReview',
    'LocalSubjectAccessReview',
    'SelfSubjectAccessReview',
    'SelfSubjectRulesReview',
    'SubjectAccessReview',
  ])
  equal(
    storedKinds.some(({ group }) => group.startsWith('auth')),
    false,
  )
})

const lives: [seconds: number, errors: string[]][] = [
  [600, []],
  [2 ** 32, []],
  [0, ['spec.expirationSeconds: Invalid value: 0: may not specify a duration less than 10 minutes']],
  [
    2 ** 32 + 1,
    ['spec.expirationSeconds: Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds'],
  ],
]
for (const [expirationSeconds, errors] of lives)
  test(`a token for ${expirationSeconds} seconds`, () => {
    deepEqual(validateTokenRequest({ expirationSeconds }).map(fieldErrorText), errors)
  })
