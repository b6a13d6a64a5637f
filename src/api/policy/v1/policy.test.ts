// Tables for PodDisruptionBudget.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { decode } from '../../../schema/decoding/decode.ts'
import { cellsOf, testInvalidObjects } from '../../kind/kind.harness.ts'
import { eviction } from './eviction.ts'
import { podDisruptionBudget } from './pod-disruption-budget.ts'

testInvalidObjects(podDisruptionBudget, [
  ['an empty spec', {}, []],
  ['an empty selector and a large count', { spec: { minAvailable: 99_999_999, selector: {} } }, []],
  [
    'two bounds',
    { spec: { minAvailable: 1, maxUnavailable: '50%' } },
    [
      'spec: Invalid value: {"MinAvailable":1,"Selector":null,"MaxUnavailable":"50%","UnhealthyPodEvictionPolicy":null}: minAvailable and maxUnavailable cannot be both set',
    ],
  ],
  ['a number as text', { spec: { minAvailable: '1' } }, [/^spec\.minAvailable: Invalid value: "1": a valid percent/]],
  [
    'a negative count',
    { spec: { maxUnavailable: -1 } },
    ['spec.maxUnavailable: Invalid value: -1: must be greater than or equal to 0'],
  ],
  [
    'a percentage above 100',
    { spec: { maxUnavailable: '200%' } },
    ['spec.maxUnavailable: Invalid value: "200%": must not be greater than 100%'],
  ],
  [
    'an empty policy',
    { spec: { unhealthyPodEvictionPolicy: '' } },
    ['spec.unhealthyPodEvictionPolicy: Unsupported value: "": supported values: "AlwaysAllow", "IfHealthyBudget"'],
  ],
])

test('a PodDisruptionBudget shows the bound that it has', () => {
  deepEqual(
    [
      cellsOf(podDisruptionBudget, { spec: { minAvailable: 1 }, status: { disruptionsAllowed: 2 } }),
      cellsOf(podDisruptionBudget, { spec: { maxUnavailable: '10%' } }),
    ],
    [
      ['x', '1', 'N/A', 2, '60s'],
      ['x', 'N/A', '10%', 0, '60s'],
    ],
  )
})

test('an Eviction has the options of the deletion', () => {
  const sent = { metadata: { name: 'p' }, deleteOptions: { gracePeriodSeconds: 0, dryRun: ['All'] } }
  deepEqual(decode(eviction, sent).value, sent)
})
