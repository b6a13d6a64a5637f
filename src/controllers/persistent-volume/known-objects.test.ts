// KnownObjects keeps the newer of what was written and what the informer reports.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import type { PersistentVolume } from '../../api/core/v1/volume/persistent-volume.ts'
import { aVolume } from './binder.harness.ts'
import { KnownObjects } from './known-objects.ts'

const version = (resourceVersion: string, uid = 'u'): PersistentVolume =>
  aVolume('v', {}, { metadata: { resourceVersion, uid } })

test('an older version does not replace a newer one', () => {
  const replaced: (string | undefined)[][] = []
  const known = new KnownObjects<PersistentVolume>((before, now) =>
    replaced.push([before?.metadata.resourceVersion, now?.metadata.resourceVersion]),
  )
  known.observe('v', version('1'))
  known.wrote(version('3'))
  known.observe('v', version('2'))
  known.observe('v', version('3'))
  equal(known.get('v')?.metadata.resourceVersion, '3')
  known.observe('v', version('9'))
  known.wrote(version('10'))
  // Versions are numbers: 10 is newer than 9.
  equal(known.get('v')?.metadata.resourceVersion, '10')
  deepEqual(replaced, [
    [undefined, '1'],
    ['1', '3'],
    ['3', '9'],
    ['9', '10'],
  ])
})

test('the result of a write does not bring a deleted object back, nor replace its successor', () => {
  const known = new KnownObjects<PersistentVolume>(() => {})
  known.observe('v', version('1'))
  known.observe('v', undefined)
  known.wrote(version('2'))
  equal(known.get('v'), undefined)
  known.observe('v', version('3', 'successor'))
  known.wrote(version('4'))
  equal(known.get('v')?.metadata.uid, 'successor')
})
