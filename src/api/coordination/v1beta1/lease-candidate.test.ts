// Tables for LeaseCandidate.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { cellsOf, testInvalidObjects, updateErrorsOf } from '../../kind/kind.harness.ts'
import { leaseCandidate } from './lease-candidate.ts'

const spec = {
  leaseName: 'kube-scheduler',
  binaryVersion: '1.36.4',
  emulationVersion: '1.36.0',
  strategy: 'OldestEmulationVersion',
}

testInvalidObjects(leaseCandidate, [
  ['a candidate', { spec }, []],
  [
    'nothing',
    { spec: {} },
    ['spec.leaseName: Required value', 'spec.binaryVersion: Required value', 'spec.strategy: Required value'],
  ],
  [
    'no emulation version',
    { spec: { ...spec, emulationVersion: '' } },
    ["spec.emulationVersion: Required value: must be specified when `strategy` is 'OldestEmulationVersion'"],
  ],
  [
    'no emulation version with a strategy of a domain',
    { spec: { ...spec, emulationVersion: '', strategy: 'a.b/c' } },
    [],
  ],
  [
    'an unknown strategy',
    { spec: { ...spec, strategy: 'Newest' } },
    ['spec.strategy.strategy: Unsupported value: "Newest": supported values: "OldestEmulationVersion"'],
  ],
  [
    'a newer emulation than the program',
    { spec: { ...spec, emulationVersion: '1.37.0' } },
    ['spec.binaryVersion: Invalid value: "1.36.4": must be greater than or equal to `emulationVersion`'],
  ],
  [
    'texts that are no versions',
    { spec: { ...spec, binaryVersion: 'v1.36.4', emulationVersion: '1.36' } },
    [
      'spec.emulationVersion: Invalid value: "1.36": must be a valid semantic version',
      'spec.binaryVersion: Invalid value: "v1.36.4": must be a valid semantic version',
      "spec.emulationVersion: Required value: must be specified when `strategy` is 'OldestEmulationVersion'",
    ],
  ],
])

test('the lease of a candidate cannot be changed', () => {
  deepEqual(
    updateErrorsOf(leaseCandidate, { spec }, { spec: { ...spec, renewTime: '2030-01-01T00:00:00.000000Z' } }),
    [],
  )
  deepEqual(updateErrorsOf(leaseCandidate, { spec }, { spec: { ...spec, leaseName: 'other' } }), [
    'spec.leaseName: Invalid value: "other": field is immutable',
  ])
})

test('names may have underscores, as identities have', () => {
  deepEqual(leaseCandidate.validateName('host-a_0d5f'), [])
  deepEqual(leaseCandidate.validateName('a/b').length, 1)
})

test('columns', () => {
  deepEqual(cellsOf(leaseCandidate, { spec }), ['x', 'kube-scheduler', '1.36.4', '1.36.0', '60s'])
})
