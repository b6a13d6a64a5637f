import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { ReferencedKeys } from './referenced-keys.ts'

test('what the last plan and the current one have read is referenced', () => {
  const keys = new ReferencedKeys()
  const has = () =>
    ['services a', 'services b', 'secrets a'].map((text) => keys.has(...(text.split(' ') as [string, string])))
  keys.add('services', 'a')
  deepEqual(has(), [true, false, false])
  keys.complete()
  keys.add('services', 'b')
  deepEqual(has(), [true, true, false])
  keys.complete()
  deepEqual(has(), [false, true, false])
})
