// Arena: small values share buffers, long ones have their own.
import { deepEqual, equal, notEqual } from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiObject } from '../../api/meta/object.ts'
import { Arena } from './arena.ts'

test('values share buffers, unless they are long', () => {
  const arena = new Arena()
  const [one, other, long] = ['ä', 'b', 'ü'.repeat(1 << 16)].map((text) => arena.add(text))
  deepEqual(
    [one, other].map((bytes) => new TextDecoder().decode(bytes)),
    ['ä', 'b'],
  )
  equal(one?.buffer, other?.buffer)
  equal(long?.buffer.byteLength, 1 << 17)
  const many = Array.from({ length: 200 }, (_, index) => arena.add(`${index} ${'x'.repeat(20_000)}`))
  deepEqual(
    many.map((bytes) => parseInt(new TextDecoder().decode(bytes))),
    many.map((_, index) => index),
  )
  equal(new Set(many.map(({ buffer }) => buffer)).size < 10, true)
})

test('arenas share no buffer', () => notEqual(new Arena().add('a').buffer, new Arena().add('b').buffer))

test('recently read objects are cached, a few large or many small ones', () => {
  const arena = new Arena()
  let decoded = 0
  const read = (version: object, bytes = 1) =>
    arena.decoded(version, bytes, () => {
      decoded++
      return {} as ApiObject
    })
  const version = {}
  equal(read(version), read(version))
  equal(decoded, 1)
  for (let count = 0; count < 127; count++) read({})
  read(version)
  equal(decoded, 128)
  for (let count = 0; count < 4; count++) read({}, 1 << 20)
  read(version)
  equal(decoded, 133)
})
