import { deepEqual, equal, rejects, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { finallyMaybe, thenMaybe } from './maybe-promise.ts'

const wrong = new Error('wrong')
const failing = (): never => {
  throw wrong
}

test('what is known is used at once', () => {
  equal(
    thenMaybe(2, (value) => value + 1),
    3,
  )
})

test('what is promised is used when it is there', async () => {
  equal(await thenMaybe(Promise.resolve(2), (value) => value + 1), 3)
})

test('the end follows the work, however the work ends', async () => {
  const ends: string[] = []
  const end = (how: string) => () => void ends.push(how)
  equal(
    finallyMaybe(() => 1, end('known')),
    1,
  )
  throws(() => finallyMaybe(failing, end('thrown')), wrong)
  const promised = finallyMaybe(() => Promise.resolve(2), end('promised'))
  deepEqual(ends, ['known', 'thrown'])
  equal(await promised, 2)
  await rejects(async () => finallyMaybe(() => Promise.reject(wrong), end('rejected')), wrong)
  deepEqual(ends, ['known', 'thrown', 'promised', 'rejected'])
})
