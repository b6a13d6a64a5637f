import { deepEqual, equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../schema/json/json-value.ts'
import {
  configOfSecrets,
  earlierKeys,
  encryptedResources,
  withEncryption,
  withFirstOnly,
  withKey,
  withLastFirst,
} from './encryption-keys.ts'

const key = { name: 'new', secret: new Uint8Array(3) }
const added = { name: 'new', secret: 'AAAA' }
const keys = (...names: readonly string[]) => names.map((name) => ({ name, secret: name }))
const config = (
  ...rules: readonly (readonly [resources: string, ...providers: readonly JsonObject[]])[]
): JsonObject => ({
  kind: 'EncryptionConfiguration',
  resources: rules.map(([resources, ...providers]) => ({ resources: resources.split(' '), providers })),
})
const identity = { identity: {} }
const kms = { kms: { name: 'plugin' } }

test('a configuration of Secrets reads what others encrypt, then encrypts', () => {
  const first = configOfSecrets(key)
  deepEqual(first['resources'], [{ resources: ['secrets'], providers: [identity, { secretbox: { keys: [added] } }] }])
  deepEqual(encryptedResources(first), [])
  const next = withEncryption(first)
  deepEqual(next['resources'], [{ resources: ['secrets'], providers: [{ secretbox: { keys: [added] } }, identity] }])
  deepEqual(encryptedResources(next), ['secrets'])
  deepEqual(withEncryption(next), next)
})

test('the keys of the first provider of each rule are replaced, and nothing else', () => {
  const withKeys = (...first: readonly JsonObject[]) =>
    config(
      ['secrets configmaps', { aesgcm: { keys: first } }, { aescbc: { keys: keys('c') } }, identity],
      ['*.apps', kms, { secretbox: { keys: keys('d') } }],
      ['*.*', identity, kms],
    )
  const before = withKeys(...keys('a', 'b'))
  deepEqual(encryptedResources(before), ['secrets', 'configmaps'])
  equal(earlierKeys(before), 1)
  const readable = withKey(before, key)
  deepEqual(readable, withKeys(...keys('a', 'b'), added))
  const next = withLastFirst(readable)
  deepEqual(next, withKeys(added, ...keys('a', 'b')))
  equal(earlierKeys(next), 2)
  deepEqual(withFirstOnly(next), withKeys(added))
  equal(earlierKeys(withFirstOnly(next)), 0)
})

test('KMS plugins, and configurations without keys, have none to replace', () => {
  for (const each of [
    config(['secrets', kms, identity]),
    config(['secrets', identity, kms]),
    config(),
    {},
    { resources: 1 },
  ]) {
    deepEqual(encryptedResources(withEncryption(each)), [])
    equal(earlierKeys(each), 0)
  }
})

test('the number of keys is limited', () => {
  const full = config(['secrets', { aesgcm: { keys: keys('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h') } }])
  throws(
    () => withKey(full, key),
    /with 8 keys; retire the earlier ones first: coxswain rotate encryption-key --retire/,
  )
})
