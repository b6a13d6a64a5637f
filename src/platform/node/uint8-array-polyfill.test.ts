// The polyfill behaves as the methods of newer runtimes.
import { deepEqual, equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { polyfillUint8Array } from './uint8-array-polyfill.ts'

class Bytes extends Uint8Array {}
polyfillUint8Array(Bytes)
const own = Object.getOwnPropertyNames(Bytes.prototype)

const samples = [[], [0], [255, 254], [251, 255, 191], [1, 2, 3, 4, 5]]
const options = [
  {},
  { alphabet: 'base64url' },
  { omitPadding: true },
  { alphabet: 'base64url', omitPadding: true },
] as const

test('the type under test has its own methods', () => {
  deepEqual(own.toSorted(), ['constructor', 'toBase64', 'toHex'])
  equal(Object.hasOwn(Bytes, 'fromBase64'), true)
})

for (const sample of samples)
  test(`bytes ${sample} are encoded as by the engine, and decoded again`, () => {
    const ours = new Bytes(sample)
    const theirs = new Uint8Array(sample)
    equal(ours.toHex(), theirs.toHex())
    deepEqual([...Bytes.fromHex(ours.toHex())], sample)
    for (const each of options) {
      const text = theirs.toBase64(each)
      equal(ours.toBase64(each), text)
      deepEqual([...Bytes.fromBase64(text, 'alphabet' in each ? { alphabet: each.alphabet } : {})], sample)
    }
  })

const rejected = ['a', 'ab=', 'a_b-', 'ab==c', '!!!!']
for (const text of rejected)
  test(`${text} is not base64 for either implementation`, () => {
    throws(() => Uint8Array.fromBase64(text), SyntaxError)
    throws(() => Bytes.fromBase64(text), SyntaxError)
  })

test('white space in base64 is ignored, and hex of odd length is rejected', () => {
  deepEqual([...Bytes.fromBase64('AQ\n ID')], [...Uint8Array.fromBase64('AQ\n ID')])
  throws(() => Bytes.fromHex('abc'), SyntaxError)
})
