import { throws } from 'node:assert/strict'
import { test } from 'node:test'
import type { PodAction } from './pod-actions.ts'
import { container } from './pod-lifecycle.harness.ts'
import { NoProgress, PodProgress, roundsMax, sameRoundsMax } from './pod-progress.ts'

const remove = (id: string): PodAction[] => [{ kind: 'remove-container', container: container('c', 'created', { id }) }]

test('the same actions may be planned a few times in a row, not more often', () => {
  const progress = new PodProgress()
  for (let round = 0; round < sameRoundsMax; round++) progress.check(remove('a'))
  throws(() => progress.check(remove('a')), NoProgress)
})

test('alternating actions are stopped at the maximum number of rounds', () => {
  const progress = new PodProgress()
  for (let round = 0; round < roundsMax; round++) progress.check(remove(round % 2 === 0 ? 'a' : 'b'))
  throws(() => progress.check(remove('a')), NoProgress)
})
