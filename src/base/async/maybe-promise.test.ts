import { deepEqual, equal, rejects, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { finallyMaybe, thenMaybe } from './maybe-promise.ts'

const wrong = new Error('wrong')
const failing = (): never => {
  throw wrong
}

test('an available value is used synchronously', () => {
  equal(
    thenMaybe(2, (value) => value + 1),
    3,
  )
})

test('a promised value is used when it resolves', async () => {
  equal(await thenMaybe(Promise.resolve(2), (value) => value + 1), 3)
})

test('the final callback runs after the work, whether it succeeds or fails', async () => {
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
