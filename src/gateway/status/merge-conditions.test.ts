import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { met, unmet } from '../attachment/outcome.ts'
import { mergeConditions } from './merge-conditions.ts'

const before = [
  { type: 'Accepted', status: 'True', reason: 'Old', message: '', observedGeneration: 1, lastTransitionTime: 't1' },
  { type: 'Programmed', status: 'True', reason: 'Old', message: '', observedGeneration: 1, lastTransitionTime: 't1' },
  { type: 'PartiallyInvalid', status: 'True', reason: 'Old', message: '', lastTransitionTime: 't1' },
  { type: 'example.com/Own', status: 'True', reason: 'Other', message: '', lastTransitionTime: 't0' },
]

test('a condition keeps its time unless its status changes; those of others are kept', () => {
  const wanted = [
    { type: 'Accepted', outcome: met('Accepted', 'fine') },
    { type: 'Programmed', outcome: unmet('Invalid', 'broken') },
  ]
  const merged = mergeConditions(before, wanted, { generation: 2, time: 't2' }, ['PartiallyInvalid'])
  deepEqual(
    merged.map(({ type, status, reason, observedGeneration, lastTransitionTime }) =>
      [type, status, reason, observedGeneration, lastTransitionTime].join(' '),
    ),
    ['Accepted True Accepted 2 t1', 'Programmed False Invalid 2 t2', 'example.com/Own True Other  t0'],
  )
})
