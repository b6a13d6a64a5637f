import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiObject } from '../../api/meta/object.ts'
import { Expectations } from './expectations.ts'
import { aPod } from './plan.harness.ts'

test('expectations are met when the cache contains the writes', () => {
  const cache = new Map<string, ApiObject>()
  const informer = { revision: 5, get: (key: string) => cache.get(key) } as never as Parameters<
    Expectations['expect']
  >[1]['informer'] & { revision: number }
  const expectations = new Expectations()
  const written = { ...aPod('a'), metadata: { ...aPod('a').metadata, resourceVersion: '7' } }
  expectations.expect('k', { informer, object: written, kind: 'written' })
  equal(expectations.areMet('k'), false)
  cache.set('default/a', written)
  equal(expectations.areMet('k'), true)
  expectations.expect('k', { informer, object: written, kind: 'deleted' })
  equal(expectations.areMet('k'), false)
  cache.delete('default/a')
  equal(expectations.areMet('k'), true)
  cache.set('default/a', written)
  expectations.expect('k', { informer, object: written, kind: 'deleted' })
  expectations.forget('k')
  equal(expectations.areMet('k'), true)
})
