import { equal, match, notEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { nameSuffix, newUid, safeEncoded } from './ids.ts'
import { seededRandom, systemRandom } from './random.ts'

test('a uid is a version 4 UUID', () => {
  for (let i = 0; i < 100; i++)
    match(newUid(systemRandom), /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
})

test('the uids of a seed are always the same, as recorded flows have them', () =>
  equal(newUid(seededRandom(5)), '68c84a5f-1734-42a3-b075-f6cf375e9776'))

test('ids repeat with the seed and only with it', () => {
  equal(newUid(seededRandom(5)), newUid(seededRandom(5)))
  notEqual(newUid(seededRandom(5)), newUid(seededRandom(6)))
})

test('suffixes use the alphabet that upstream uses', () => {
  match(nameSuffix(systemRandom), /^[bcdfghjklmnpqrstvwxz2456789]{5}$/)
  equal(safeEncoded('0123456789'), '456789bcdf')
})
