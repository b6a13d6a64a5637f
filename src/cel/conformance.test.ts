// The language against its public conformance cases. Excluded cases are listed with the reason.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { supportedCases, type ConformanceCase } from './conformance.harness.ts'
import { compile } from './program.ts'
import { Evaluator } from './run/evaluator.ts'
import { parse } from './syntax/parser.ts'
import { typeText } from './types/cel-type.ts'
import { equals } from './values/equality.ts'
import { runtimeType } from './values/matches-type.ts'
import { EvalError } from './values/eval-error.ts'
import type { Value } from './values/value.ts'

const costMax = 10_000_000

test('the conformance cases of the language', () => {
  const wrong: string[] = []
  let held = 0
  for (const { path, read } of supportedCases()) {
    const problem = problemWith(read())
    if (problem === undefined) held++
    else wrong.push(`${path}: ${problem}`)
  }
  assert.deepEqual(wrong, [])
  assert.ok(held > 1_000, `only ${held} cases were tried`)
})

function problemWith(each: ConformanceCase): string | undefined {
  const { expr, environment, bindings, isChecked, isCheckOnly, expected, expectedType, isError } = each
  try {
    const program = isChecked ? compile(expr, environment) : undefined
    if (expectedType !== undefined && program !== undefined && typeText(program.type) !== typeText(expectedType))
      return `${expr} is of type ${typeText(program.type)}, not ${typeText(expectedType)}`
    if (isCheckOnly) return undefined
    const evaluator = program ?? new Evaluator(parse(expr), environment, undefined)
    const outcome = evaluator.outcome(bindings, costMax)
    if (outcome.error !== undefined) throw outcome.error
    const { value } = outcome
    if (isError) return `${expr} is ${shown(value)}, not an error`
    return expected === undefined || isSame(value, expected)
      ? undefined
      : `${expr} is ${shown(value)}, not ${shown(expected)}`
  } catch (error) {
    if (!(error instanceof Error)) throw error
    if (isError && (error instanceof EvalError || !isChecked || error.name === 'ExpressionError')) return undefined
    return `${expr}: ${error.message}`
  }
}

const isSame = (value: Value, expected: Value): boolean =>
  (equals(value, expected) && runtimeType(value) === runtimeType(expected)) ||
  (Number.isNaN(value) && Number.isNaN(expected))

const shown = (value: Value): string =>
  `${runtimeType(value)} ${String(typeof value === 'object' ? JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? String(each) : each)) : value)}`
