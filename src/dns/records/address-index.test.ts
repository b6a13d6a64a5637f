import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AddressIndex } from './address-index.ts'
import { ServiceRecords } from './service-records.ts'

const web = new ServiceRecords('web.default')
const api = new ServiceRecords('api.default')
const keysOf = (index: AddressIndex) => index.of('10.0.0.1').map(({ key }) => key)

test('an address of several Services', () => {
  const index = new AddressIndex()
  assert.deepEqual(keysOf(index), [])
  index.add('10.0.0.1', web)
  index.add('10.0.0.1', api)
  assert.deepEqual(keysOf(index), ['web.default', 'api.default'])
  index.remove('10.0.0.1', web)
  assert.deepEqual(keysOf(index), ['api.default'])
  index.remove('10.0.0.1', api)
  assert.deepEqual([keysOf(index), index.size], [[], 0])
})

test('an address that a Service has several times is removed as often', () => {
  const index = new AddressIndex()
  for (let count = 0; count < 3; count++) index.add('10.0.0.1', web)
  index.add('10.0.0.1', api)
  index.remove('10.0.0.1', web)
  index.remove('10.0.0.1', web)
  assert.deepEqual(keysOf(index), ['web.default', 'api.default'])
  index.remove('10.0.0.1', web)
  assert.deepEqual(keysOf(index), ['api.default'])
})

test('removing what was not added has no effect', () => {
  const index = new AddressIndex()
  index.remove('10.0.0.1', web)
  index.add('10.0.0.1', web)
  index.remove('10.0.0.1', api)
  assert.deepEqual(keysOf(index), ['web.default'])
})
