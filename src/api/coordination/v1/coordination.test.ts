// Tables for Lease.
import { testInvalidObjects } from '../../kind/kind.harness.ts'
import { lease } from './lease.ts'

testInvalidObjects(lease, [
  ['nothing', {}, []],
  ['any holder', { spec: { holderIdentity: 'Bad Value!', leaseTransitions: 99_999_999 } }, []],
  [
    'a duration of 0 and negative transitions',
    { spec: { leaseDurationSeconds: 0, leaseTransitions: -1 } },
    [
      'spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0',
      'spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0',
    ],
  ],
  ['a strategy', { spec: { strategy: 'OldestEmulationVersion', preferredHolder: 'p' } }, []],
  ['a strategy with a domain', { spec: { strategy: 'example.com/mine' } }, []],
  [
    'a strategy without a domain',
    { spec: { strategy: 'mine' } },
    ['spec.strategy.strategy: Unsupported value: "mine": supported values: "OldestEmulationVersion"'],
  ],
  [
    'a preference without a strategy',
    { spec: { preferredHolder: 'p' } },
    ['spec.preferredHolder: Forbidden: may only be specified if `strategy` is defined'],
  ],
])
