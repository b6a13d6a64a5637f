import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { persistentVolumeClaim } from '../../api/core/v1/volume/persistent-volume-claim.ts'
import { persistentVolume } from '../../api/core/v1/volume/persistent-volume.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import { volumeAttributesClass } from '../../api/storage/v1/volume-attributes-class.ts'
import { firstObject, made, planOf } from '../runtime/plan.harness.ts'
import { volumeAttributesClassProtectionController } from './volume-attributes-class-protection.ts'

const finalizer = 'kubernetes.io/vac-protection'
const ending = { deletionTimestamp: '2030-01-01T00:00:00Z', finalizers: [finalizer] }
const classOf = (metadata: object) => made(volumeAttributesClass, 'fast', { metadata, driverName: 'd' })
const named = { volumeAttributesClassName: 'fast' }

const cases: [why: string, metadata: object, others: ApiObject[], finalizers: string[] | 'unchanged'][] = [
  ['a new one gets the finalizer', {}, [], [finalizer]],
  ['one with the finalizer is not changed', { finalizers: [finalizer] }, [], 'unchanged'],
  ['a deleted one that is not in use loses the finalizer', ending, [made(persistentVolume, 'v', { spec: {} })], []],
  ['one that a volume uses keeps it', ending, [made(persistentVolume, 'v', { spec: named })], 'unchanged'],
  ['one that a claim requests keeps it', ending, [made(persistentVolumeClaim, 'c', { spec: named })], 'unchanged'],
  [
    'one that a claim currently has keeps it',
    ending,
    [made(persistentVolumeClaim, 'c', { spec: {}, status: { currentVolumeAttributesClassName: 'fast' } })],
    'unchanged',
  ],
]
for (const [why, metadata, others, finalizers] of cases)
  test(`VolumeAttributesClass: ${why}`, () => {
    const plan = planOf(volumeAttributesClassProtectionController, classOf(metadata), ...others)
    const got = plan.changes.length === 0 ? 'unchanged' : (firstObject<ApiObject>(plan).metadata.finalizers ?? [])
    deepEqual(got, finalizers)
  })
