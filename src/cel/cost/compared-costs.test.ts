// Estimated and actual costs of expressions about one object. The table was written by this implementation after its costs
// had been found equal to those of v1.36.4: the estimate by the number of list items up to which a definition is accepted,
// the actual cost by the cost of other operands up to which an object is. Expressions that differed are not in it.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { kubernetesEnvironment } from '../library/kubernetes.ts'
import { compile } from '../program.ts'
import { dynType } from '../types/cel-type.ts'
import { structuralType, type StructuralSchema } from '../types/structural-type.ts'
import { fromJson } from '../values/json-value-conversion.ts'
import { estimateCost } from './estimate.ts'

type CostRow = readonly [expression: string, cost: number]

const { schema, object, estimates, costs } = JSON.parse(
  readFileSync(new URL('../../../test/facts/cel-costs.json', import.meta.url), 'utf8'),
) as {
  readonly schema: StructuralSchema
  readonly object: unknown
  readonly estimates: readonly CostRow[]
  readonly costs: readonly CostRow[]
}

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
