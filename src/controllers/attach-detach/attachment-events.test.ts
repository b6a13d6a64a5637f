import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { aPod } from '../runtime/plan.harness.ts'
import { attachedNote, attachFailedNote, conflictNote } from './attachment-events.ts'

const elsewhere = (name: string): Pod => {
  const object = aPod(name)
  return { ...object, metadata: { ...object.metadata, namespace: 'other' } }
}

const conflicts: [why: string, users: Pod[], text: string][] = [
  ['no pod', [], 'exclusively attached to one node, waiting on detach before it can be attached to another node'],
  ['pods of the namespace', [aPod('a'), aPod('b')], 'used by pod(s) a, b'],
  ['pods elsewhere', [elsewhere('a'), elsewhere('b')], 'used by 2 pod(s) in different namespaces'],
  ['both', [aPod('a'), elsewhere('b')], 'used by pod(s) a and 1 pod(s) in different namespaces'],
]
for (const [why, users, text] of conflicts)
  test(`a conflict names ${why}`, () =>
    equal(conflictNote('pv', aPod('w'), users).message, `Waiting for detach for volume "pv" Volume is already ${text}`))

test('an attach reports its outcome', () => {
  equal(attachedNote('pv').message, 'AttachVolume.Attach succeeded for volume "pv" ')
  equal(attachFailedNote('pv', 'busy').message, 'AttachVolume.Attach failed for volume "pv" : busy')
})
