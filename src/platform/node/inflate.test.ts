import { deepEqual, equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { constants, deflateRawSync } from 'node:zlib'
import { InflateError } from '../inflate.ts'
import { nodeInflateRaw } from './inflate.ts'

const none = new Uint8Array()
const flushed = (data: Uint8Array, options = {}): Uint8Array =>
  deflateRawSync(data, { finishFlush: constants.Z_SYNC_FLUSH, ...options })

test('data that ends with a flush is inflated, with matches into the dictionary', () => {
  const first = Buffer.from('the quick brown fox')
  const second = Buffer.from('the quick brown dog')
  const withMatches = flushed(second, { dictionary: first })
  equal(withMatches.length < flushed(second).length, true)
  deepEqual([...nodeInflateRaw(withMatches, { dictionary: first, outputBytesMax: 100 })], [...second])
  deepEqual([...nodeInflateRaw(flushed(none), { dictionary: none, outputBytesMax: 100 })], [])
})

test('invalid data and output beyond the limit are rejected', () => {
  const zeros = flushed(new Uint8Array(1_000))
  equal(nodeInflateRaw(zeros, { dictionary: none, outputBytesMax: 1_000 }).length, 1_000)
  throws(() => nodeInflateRaw(zeros, { dictionary: none, outputBytesMax: 999 }), InflateError)
  throws(() => nodeInflateRaw(Uint8Array.of(7), { dictionary: none, outputBytesMax: 999 }), InflateError)
})
