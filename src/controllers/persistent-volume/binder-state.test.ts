// Which claims and volumes a change concerns, and that the binder is not woken by its own writes.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { aClaim, aVolume } from './binder.harness.ts'
import { BinderState } from './binder-state.ts'

const never = () => false
const version = (resourceVersion: string) => ({ metadata: { resourceVersion } })
const key = 'default/c'

test('a new claim concerns itself; the report of the write that has bound it, nothing', () => {
  const state = new BinderState()
  const before = aClaim('c', {}, version('1'))
  const now = aClaim('c', { volumeName: 'v' }, version('2'))
  deepEqual(state.claimChanged({ key, now: before, before: undefined }, never), { claims: [key], volumes: [] })
  state.claims.wrote(now)
  deepEqual(state.claimChanged({ key, now, before }, never), { claims: [], volumes: [] })
})

test('a claim that another client has bound concerns itself and its volume', () => {
  const state = new BinderState()
  const before = aClaim('c', {}, version('1'))
  state.claimChanged({ key, now: before, before: undefined }, never)
  const now = aClaim('c', { volumeName: 'v' }, version('2'))
  deepEqual(state.claimChanged({ key, now, before }, never), { claims: [key], volumes: ['v'] })
})

test('a volume that was created for a claim, which the binder has bound to another one, is concerned', () => {
  const state = new BinderState()
  const claimRef = { namespace: 'default', name: 'c', uid: 'u' }
  state.volumeChanged({ key: 'surplus', now: aVolume('surplus', { claimRef }), before: undefined }, never)
  const before = aClaim('c', {}, version('1'))
  const now = aClaim('c', { volumeName: 'v' }, version('2'))
  state.claimChanged({ key, now: before, before: undefined }, never)
  state.claims.wrote(now)
  deepEqual(state.claimChanged({ key, now, before }, never), { claims: [], volumes: ['surplus'] })
})

test('the report of a write to a volume concerns nothing if it is bound, and a waiting claim if it is available', () => {
  const state = new BinderState()
  state.claimChanged({ key, now: aClaim('c'), before: undefined }, never)
  const pending = aVolume('v', {}, { ...version('1'), status: { phase: 'Pending' } })
  const available = aVolume('v', {}, { ...version('2'), status: { phase: 'Available' } })
  const bound = aVolume('v', { claimRef: { namespace: 'default', name: 'c', uid: 'u' } }, version('3'))
  state.volumeChanged({ key: 'v', now: pending, before: undefined }, never)
  state.volumes.wrote(available)
  deepEqual(state.volumeChanged({ key: 'v', now: available, before: pending }, never), { claims: [key], volumes: [] })
  state.volumes.wrote(bound)
  deepEqual(state.volumeChanged({ key: 'v', now: bound, before: available }, never), { claims: [], volumes: [] })
})
