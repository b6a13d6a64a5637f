import { throws } from 'node:assert/strict'
import { test } from 'node:test'
import type { PodAction } from './pod-actions.ts'
import { container } from './pod-lifecycle.harness.ts'
import { NoProgress, PodProgress, roundsMax, sameRoundsMax } from './pod-progress.ts'

const remove = (id: string): PodAction[] => [{ kind: 'remove-container', container: container('c', 'created', { id }) }]

test('the same actions may be due a few times in a row, not more often', () => {
  const progress = new PodProgress()
  for (let round = 0; round < sameRoundsMax; round++) progress.note(remove('a'))
  throws(() => progress.note(remove('a')), NoProgress)
})

test('actions that take turns without an end come to one', () => {
  const progress = new PodProgress()
  for (let round = 0; round < roundsMax; round++) progress.note(remove(round % 2 === 0 ? 'a' : 'b'))
  throws(() => progress.note(remove('a')), NoProgress)
})
