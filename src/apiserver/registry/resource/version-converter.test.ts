import { equal, notEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { configMap } from '../../../api/core/v1/config-map.ts'
import { StoredObject } from '../../storage/stored-object.ts'
import { versionConverter } from './version-converter.ts'

const converter = () =>
  versionConverter(configMap, {
    kind: configMap,
    toStored: (object) => object,
    fromStored: (object) => ({ ...object }),
  })

const storedOf = (bytes: number): StoredObject => {
  const metadata = { name: 'c', uid: '', resourceVersion: '', creationTimestamp: '' }
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { text: 'x'.repeat(bytes) } }
  return StoredObject.ofObject(object, 1)
}

test('watchers get the same converted version', () => {
  const { fromStored } = converter()
  const small = Array.from({ length: 64 }, () => storedOf(10))
  const converted = small.map(fromStored)
  for (const [index, stored] of small.entries()) equal(fromStored(stored), converted[index])
})

test('few large versions are kept', () => {
  const { fromStored } = converter()
  const first = storedOf(1_000_000)
  const second = storedOf(1_000_000)
  const third = storedOf(1_000_000)
  const [firstConverted, , thirdConverted] = [fromStored(first), fromStored(second), fromStored(third)]
  equal(fromStored(third), thirdConverted)
  notEqual(fromStored(first), firstConverted)
})
