// Estimated and actual costs compared with those that were recorded from v1.36.4.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { kubernetesEnvironment } from '../library/kubernetes.ts'
import { compile } from '../program.ts'
import { dynType } from '../types/cel-type.ts'
import { structuralType } from '../types/structural-type.ts'
import { fromJson } from '../values/json-value-conversion.ts'
import { estimateCost } from './estimate.ts'
import { costs, estimates, object, schema } from './recorded-costs.harness.ts'

const type = structuralType(schema, 'selfType', false)?.type ?? dynType
const environment = kubernetesEnvironment({}).with({ self: type })

test('estimates are those of v1.36.4', () => {
  const wrong = estimates.flatMap(([expression, cost]) => {
    const { tree, checked } = compile(expression, environment)
    const { max } = estimateCost(tree, checked, type)
    return max === cost ? [] : [`${expression}: ${max}, not ${cost}`]
  })
  assert.deepEqual(wrong, [])
})

test('actual costs are those of v1.36.4', () => {
  const self = fromJson(object, type)
  const wrong = costs.flatMap(([expression, cost]) => {
    const found = compile(expression, environment).evaluate({ self }, Number.MAX_SAFE_INTEGER).cost
    return found === cost ? [] : [`${expression}: ${found}, not ${cost}`]
  })
  assert.deepEqual(wrong, [])
})
