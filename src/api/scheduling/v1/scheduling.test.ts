// Tables for PriorityClass.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { cellsOf, objectFrom, testInvalidObjects, updateErrorsOf } from '../../kind/kind.harness.ts'
import { priorityClass } from './priority-class.ts'

const named = (name: string, body: object): object => ({ metadata: { name }, ...body })
const reserved =
  "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: "

testInvalidObjects(priorityClass, [
  ['the largest value that users may give', { value: 1_000_000_000 }, []],
  [
    'a value beyond it',
    { value: 1_000_000_001 },
    ['value: Forbidden: maximum allowed value of a user defined priority is 1000000000'],
  ],
  [
    'another preemption policy',
    { preemptionPolicy: 'x' },
    ['preemptionPolicy: Unsupported value: "x": supported values: "PreemptLowerPriority", "Never"'],
  ],
  ['an empty preemption policy', { preemptionPolicy: '' }, ['preemptionPolicy: Required value']],
  ['a system class', named('system-node-critical', { value: 2_000_001_000 }), []],
  ['the other system class', named('system-cluster-critical', { value: 2_000_000_000 }), []],
  [
    'a system class with another value',
    named('system-cluster-critical', { value: 5 }),
    [`${reserved}value of system-cluster-critical PriorityClass must be 2000000000`],
  ],
  [
    'a system class as the global default',
    named('system-node-critical', { value: 2_000_001_000, globalDefault: true }),
    [`${reserved}globalDefault of system-node-critical PriorityClass must be false`],
  ],
  [
    'a class with the prefix of system classes',
    named('system-mine', {}),
    [`${reserved}system-mine is not a known system priority class`],
  ],
])

test('a PriorityClass preempts by default', () => {
  equal(objectFrom(priorityClass, { value: 5 }).preemptionPolicy, 'PreemptLowerPriority')
})

test('the value of a priority class is immutable', () => {
  deepEqual(updateErrorsOf(priorityClass, { value: 5 }, { value: 5, description: 'new', globalDefault: true }), [])
  deepEqual(updateErrorsOf(priorityClass, { value: 5 }, { value: 6, preemptionPolicy: 'Never' }), [
    'value: Forbidden: may not be changed in an update.',
    'preemptionPolicy: Invalid value: "Never": field is immutable',
  ])
})

test('the cells of a PriorityClass', () => {
  deepEqual(cellsOf(priorityClass, { value: 5 }), ['x', 5, false, '60s', 'PreemptLowerPriority'])
})
