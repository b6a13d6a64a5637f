import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiObject } from '../../meta/object.ts'
import { fieldErrorText } from '../../../schema/validation/field-error.ts'
import { customScaling, scaleErrors } from './custom-scaling.ts'

const definition = {
  specReplicasPath: '.spec.replicas',
  statusReplicasPath: '.status.replicas',
  labelSelectorPath: '.status.selector',
}
const scaling = customScaling(definition)
const missing = 'the spec replicas field ".spec.replicas" does not exist'
const accessor = (path: string, text: string, type: string, expected: string) =>
  `.${path} accessor error: ${text} is of the type ${type}, expected ${expected}`

/** Responses of v1.36.4 to the same objects. */
const rows: [
  why: string,
  object: object,
  shown: [number, number, string],
  problem: string | undefined,
  errors: string[],
][] = [
  ['all fields', { spec: { replicas: 2 }, status: { replicas: 1, selector: 'a=b' } }, [2, 1, 'a=b'], undefined, []],
  ['no status', { spec: { replicas: 2 } }, [2, 0, ''], undefined, []],
  ['no replicas', { spec: {} }, [0, 0, ''], missing, []],
  ['no spec', { spec: null }, [0, 0, ''], missing, []],
  [
    'text',
    { spec: { replicas: '2' } },
    [0, 0, ''],
    accessor('spec.replicas', '2', 'string', 'int64'),
    [`.spec.replicas: Invalid value: 0: ${accessor('spec.replicas', '2', 'string', 'int64')}`],
  ],
  [
    'null',
    { spec: { replicas: null } },
    [0, 0, ''],
    accessor('spec.replicas', '<nil>', '<nil>', 'int64'),
    [`.spec.replicas: Invalid value: 0: ${accessor('spec.replicas', '<nil>', '<nil>', 'int64')}`],
  ],
  [
    'a negative number',
    { spec: { replicas: -1 } },
    [-1, 0, ''],
    undefined,
    ['.spec.replicas: Invalid value: -1: should be a non-negative integer'],
  ],
  [
    'a number that is too large',
    { spec: { replicas: 5_000_000_000 } },
    [5_000_000_000, 0, ''],
    undefined,
    ['.spec.replicas: Invalid value: 5000000000: should be less than or equal to 2147483647'],
  ],
  [
    'wrong types in the status',
    { spec: { replicas: 1 }, status: { replicas: 3.5, selector: {} } },
    [1, 0, ''],
    undefined,
    [
      `.status.replicas: Invalid value: 0: ${accessor('status.replicas', '3.5', 'float64', 'int64')}`,
      `.status.selector: Invalid value: "": ${accessor('status.selector', 'map[]', 'map[string]interface {}', 'string')}`,
    ],
  ],
  [
    'a status that is text',
    { spec: { replicas: 1 }, status: 'x' },
    [1, 0, ''],
    undefined,
    [
      `.status.replicas: Invalid value: 0: ${accessor('status.replicas', 'x', 'string', 'map[string]interface{}')}`,
      `.status.selector: Invalid value: "": ${accessor('status.selector', 'x', 'string', 'map[string]interface{}')}`,
    ],
  ],
]
for (const [why, object, shown, problem, errors] of rows)
  test(`the scale of an object with ${why}`, () => {
    const typed = object as unknown as ApiObject
    deepEqual([scaling.replicas(typed), scaling.statusReplicas(typed), scaling.selector(typed)], shown)
    deepEqual(scaling.problem?.(typed), problem)
    deepEqual(scaleErrors(definition, object as never).map(fieldErrorText), errors)
  })

test('replicas are set, also where the object has no spec', () => {
  deepEqual(scaling.withReplicas({} as ApiObject, 3), { spec: { replicas: 3 } })
})
