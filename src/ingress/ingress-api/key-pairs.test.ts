import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import type { Secret } from '../../api/core/v1/secret.ts'
import { runToEnd } from '../../base/work/work-slice.ts'
import { KeyPairs, keyPairCharactersMax } from './key-pairs.ts'

const base64 = (text: string) => new TextEncoder().encode(text).toBase64()
const secretOf = (certificate: string, key = 'key') =>
  ({ data: { 'tls.crt': base64(certificate), 'tls.key': base64(key) } }) as unknown as Secret

test('a version of a Secret is checked once', () => {
  const checked: string[] = []
  const pairs = new KeyPairs((certificate, key) => {
    checked.push(certificate)
    return key === 'key'
  })
  const valid = secretOf('one')
  const invalid = secretOf('two', 'other')
  runToEnd((slice) => pairs.check([valid, undefined, invalid, valid], slice))
  deepEqual([pairs.of(valid), pairs.of(invalid)], [{ certificate: 'one', key: 'key' }, undefined])
  equal(pairs.of(valid), pairs.of(valid))
  deepEqual(checked, ['one', 'two'])
})

test('many Secrets are checked in slices', () => {
  let checked = 0
  const pairs = new KeyPairs(() => ++checked > 0)
  const steps = pairs.check(
    Array.from({ length: 100 }, (_, index) => secretOf(String(index))),
    {
      isUsedUp: () => checked % 10 === 0,
    },
  )
  steps.next()
  equal(checked, 10)
})

test('a Secret without a certificate, or with one that is too long, is not valid', () => {
  const pairs = new KeyPairs(() => true)
  equal(pairs.of({} as Secret), undefined)
  equal(pairs.of(secretOf('a'.repeat(keyPairCharactersMax))), undefined)
})
