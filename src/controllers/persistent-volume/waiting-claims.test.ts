// WaitingClaims: which claim a volume is offered to.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import type { PersistentVolumeClaim } from '../../api/core/v1/volume/persistent-volume-claim.ts'
import { aClaim, aVolume } from './binder.harness.ts'
import { WaitingClaims } from './waiting-claims.ts'

const waitingOf = (...claims: readonly PersistentVolumeClaim[]): WaitingClaims => {
  const waiting = new WaitingClaims()
  for (const claim of claims) waiting.replace(undefined, claim)
  return waiting
}
const immediate = () => false
const large = { resources: { requests: { storage: '9Gi' } } }
const completed = { metadata: { annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } } }
const deleted = { metadata: { deletionTimestamp: '2030-01-01T00:00:00Z' } }

test('each volume is offered to another claim, in the order in which they wait', () => {
  const waiting = waitingOf(aClaim('big', large), aClaim('c'), aClaim('d'))
  deepEqual(
    ['v', 'w', 'x'].map((name) => waiting.offer(aVolume(name), immediate)),
    ['default/c', 'default/d', undefined],
  )
})

test('a claim that is bound, names a volume or is being deleted gets no offer', () => {
  const waiting = waitingOf(aClaim('a', { volumeName: 'x' }), aClaim('b', {}, completed), aClaim('c', {}, deleted))
  equal(waiting.offer(aVolume('v'), immediate), undefined)
})

test('a delayed claim gets no offer', () => {
  equal(
    waitingOf(aClaim('c')).offer(aVolume('v'), () => true),
    undefined,
  )
})

test('a claim that still waits after its offer has ended gets another one', () => {
  const waiting = waitingOf(aClaim('c'))
  equal(waiting.offer(aVolume('v'), immediate), 'default/c')
  equal(waiting.offer(aVolume('w'), immediate), undefined)
  equal(waiting.endOffer('default/c'), 'v')
  equal(waiting.endOffer('default/c'), undefined)
  equal(waiting.offer(aVolume('w'), immediate), 'default/c')
})

test('a volume that changes is offered again', () => {
  const waiting = waitingOf(aClaim('c'))
  equal(waiting.offer(aVolume('v'), immediate), 'default/c')
  equal(waiting.offer(aVolume('v'), immediate), 'default/c')
  equal(waiting.offer(aVolume('v', { volumeMode: 'Block' }), immediate), undefined)
})

test('claims of a class include those with an offer; a claim that changes is listed once', () => {
  const waiting = waitingOf(aClaim('c'), aClaim('d'), aClaim('e', { storageClassName: 'fast' }))
  waiting.offer(aVolume('v'), immediate)
  waiting.replace(aClaim('c'), aClaim('c', {}, { metadata: { labels: { a: 'b' } } }))
  waiting.replace(aClaim('d'), aClaim('d', large))
  deepEqual(waiting.ofClass('').toSorted(), ['default/c', 'default/d'])
  deepEqual(waiting.ofClass('fast'), ['default/e'])
  waiting.replace(aClaim('e', { storageClassName: 'fast' }), undefined)
  deepEqual(waiting.ofClass('fast'), [])
})
