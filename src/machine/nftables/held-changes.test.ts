import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { HeldChanges } from './held-changes.ts'

test('changes of a rejected object are held until its time; the last one counts', () => {
  const held = new HeldChanges<string, string>()
  equal(held.admits('a', 'first', 0), true)
  held.hold('a', 100)
  equal(held.hasDue(100), false)
  equal(held.admits('a', 'second', 10), false)
  equal(held.admits('a', 'third', 20), false)
  equal(held.admits('b', 'other', 20), true)
  deepEqual([held.hasDue(99), held.takeDue(99)], [false, []])
  deepEqual([held.hasDue(100), held.takeDue(100), held.takeDue(100)], [true, ['third'], []])
  equal(held.has('a'), false)
})

test('a change after the time is made at once', () => {
  const held = new HeldChanges<string, string>()
  held.hold('a', 100)
  equal(held.admits('a', 'now', 100), true)
  equal(held.has('a'), false)
})

test('a change can be held from the start; an object that is gone is forgotten', () => {
  const held = new HeldChanges<string, string>()
  held.hold('a', 100, 'again')
  held.hold('b', 100, 'never')
  held.forget('b')
  deepEqual(held.takeDue(100), ['again'])
})
