// Published test vectors, and what happens to a value that was changed.
import { deepEqual, equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { openSecretbox, sealSecretbox } from './secretbox.ts'

const key = Uint8Array.fromHex('1b27556473e985d462cd51197a9a46c76009549eac6474f206c4ee0844f68389')
const nonce = Uint8Array.fromHex('69696ee955b62b73cd62bda875fc73d68219e0036b7a0b37')
const plain = Uint8Array.fromHex(
  'be075fc53c81f2d5cf141316ebeb0c7b5228c52a4c62cbd44b66849b64244ffce5ecbaaf33bd751a1ac728d45e6c61296cdc3c01233561f41db66cce314adb310e3be8250c46f06dceea3a7fa1348057e2f6556ad6b1318a024a838f21af1fde048977eb48f59ffd4924ca1c60902e52f0a089bc76897040e082f937763848645e0705',
)
const sealed =
  'f3ffc7703f9400e52a7dfb4b3d3305d98e993b9f48681273c29650ba32fc76ce48332ea7164d96a4476fb8c531a1186ac0dfc17c98dce87b4da7f011ec48c97271d2c20f9b928fe2270d6fb863d51738b48eeee314a7cc8ab932164548e526ae90224368517acfeabd6bb3732bc0e9da99832b61ca01b6de56244a9e88d5f9b37973f622a43d14a6599b1f654cb45a74e355a5'

test('the example of "Cryptography in NaCl" is sealed as published, and opened', () => {
  equal(sealSecretbox(key, nonce, plain).toHex(), sealed)
  deepEqual(openSecretbox(key, nonce, Uint8Array.fromHex(sealed)), plain)
})

test('the test vector of golang.org/x/crypto/nacl/secretbox, which upstream uses', () => {
  const ones = new Uint8Array(32).fill(1)
  const twos = new Uint8Array(24).fill(2)
  const threes = new Uint8Array(64).fill(3)
  const vector =
    '8442bc313f4626f1359e3b50122b6ce6fe66ddfe7d39d14e637eb4fd5b45beadab55198df6ab5368439792a23c87db70acb6156dc5ef957ac04f6276cf6093b84be77ff0849cc33e34b7254d5a8f65ad'
  equal(sealSecretbox(ones, twos, threes).toHex(), vector)
  deepEqual(openSecretbox(ones, twos, Uint8Array.fromHex(vector)), threes)
})

test('inputs need not be aligned to words', () => {
  const shifted = (bytes: Uint8Array): Uint8Array => Uint8Array.of(0, ...bytes).subarray(1)
  equal(sealSecretbox(shifted(key), shifted(nonce), shifted(plain)).toHex(), sealed)
  deepEqual(openSecretbox(shifted(key), shifted(nonce), shifted(Uint8Array.fromHex(sealed))), plain)
})

test('values of every length up to several blocks are restored', () => {
  for (let length = 0; length <= 200; length++) {
    const data = Uint8Array.from({ length }, (_, index) => (index * 7 + length) & 0xff)
    deepEqual(openSecretbox(key, nonce, sealSecretbox(key, nonce, data)), data)
  }
})

test('a value that was changed, truncated or sealed with another key is rejected', () => {
  const good = Uint8Array.fromHex(sealed)
  for (const at of [0, 15, 16, good.length - 1]) {
    const changed = good.slice()
    changed[at] = (changed[at] ?? 0) ^ 1
    throws(() => openSecretbox(key, nonce, changed), /was not sealed under this key/)
  }
  throws(() => openSecretbox(key, nonce, good.subarray(0, 10)), /too short/)
  throws(
    () =>
      openSecretbox(
        key.map((byte) => byte ^ 1),
        nonce,
        good,
      ),
    /was not sealed under this key/,
  )
})
