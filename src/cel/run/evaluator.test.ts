// Evaluation in slices: interrupted wherever it can be, an evaluation has the same result and the same cost.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { runToEnd, type Slice } from '../../base/work/work-slice.ts'
import { supportedCases } from '../conformance.harness.ts'
import { kubernetesEnvironment } from '../library/kubernetes.ts'
import { compile, type Outcome } from '../program.ts'
import { Evaluator } from './evaluator.ts'
import { parse } from '../syntax/parser.ts'
import { ExpressionError } from '../syntax/source.ts'
import { dynType } from '../types/cel-type.ts'
import { EvalError } from '../values/eval-error.ts'
import { fromJson } from '../values/json-value-conversion.ts'
import type { Activation } from './evaluation-frame.ts'

const costMax = 100_000

/** Used up at every check, and counts the checks. */
class NoSlice implements Slice {
  checks = 0

  isUsedUp(): boolean {
    this.checks++
    return true
  }
}

const shown = ({ value, cost, error }: Outcome) => ({ value, cost, error: error?.message })

test('the conformance cases of the language have the same outcome when they are interrupted', () => {
  let interrupted = 0
  for (const { read } of supportedCases()) {
    const { expr, environment, bindings, isCheckOnly } = read()
    if (isCheckOnly) continue
    try {
      const evaluator = new Evaluator(parse(expr), environment, undefined)
      const slice = new NoSlice()
      const steps = evaluator.outcomeInSlices(bindings, costMax, slice)
      let step = steps.next()
      for (; step.done !== true; step = steps.next()) interrupted++
      deepEqual(shown(step.value), shown(evaluator.outcome(bindings, costMax)), expr)
    } catch (error) {
      if (!(error instanceof ExpressionError || error instanceof EvalError)) throw error
    }
  }
  ok(interrupted > 500, `${interrupted} interruptions`)
})

const environment = kubernetesEnvironment({}).with({ self: dynType }, { dialect: 'kubernetesWithBind' })
const numbers = Array.from({ length: 40 }, (_, index) => index)
const texts = numbers.map((each) => `text-${each}`)

const rows: readonly (readonly [expression: string, self: unknown])[] = [
  ['self.all(x, self.exists(y, x == y))', numbers],
  ['self.all(x, self.all(y, x < y)) || self.all(x, x >= 0)', numbers],
  ['self.map(x, self.filter(y, y > x).size()).size() == 40', numbers],
  ['self.exists(x, x.missing == 1) || self.size() == 40', numbers],
  ['self.exists_one(x, self.all(y, y <= x))', numbers],
  ['cel.bind(total, self.map(x, x * 2), total.all(x, total.exists(y, x == y)))', numbers],
  ['self.all(x, cel.bind(y, x + x, self.all(z, z == y || z != y)))', numbers],
  ['self.transformMap(i, x, self.all(y, y != "") ? x + "!" : x)[3] == "text-3!"', texts],
  ['self.map(x, x.findAll("[0-9]").size()).sum() > 40 && self.join(",").matches("text-3.*9$")', texts],
  ['self.map(x, self.all(y, y < x) ? [x] : [x, x]).map(l, l.size()).sum()', numbers],
  ['self[?100].orValue(self.map(x, x + 1).max())', numbers],
  ['self.map(x, 1 / (x - 39)).size() > 0 || self.all(x, self.all(y, x == y))', numbers],
  ['self.all(x, self.all(y, self.all(z, x + y + z >= 0)))', [...numbers, ...numbers, ...numbers]],
]
for (const [expression, self] of rows)
  test(`interrupted wherever it can be, ${expression} has the same outcome`, () => {
    const program = compile(expression, environment)
    const activation: Activation = { self: fromJson(self) }
    const slice = new NoSlice()
    const steps = program.outcomeInSlices(activation, costMax, slice)
    let yields = 0
    let step = steps.next()
    for (; step.done !== true; step = steps.next()) yields++
    deepEqual(shown(step.value), shown(program.outcome(activation, costMax)))
    // No more than a hundred units of cost, of the two thousand that are evaluated first, are between two interruptions.
    ok(yields >= (step.value.cost - 2_000) / 100, `${yields} interruptions at a cost of ${step.value.cost}`)
  })

test('a short evaluation is not interrupted', () => {
  const slice = new NoSlice()
  const program = compile('self.all(x, x > -1)', environment)
  const steps = program.outcomeInSlices({ self: fromJson(numbers) }, costMax, slice)
  equal(steps.next().done, true)
  equal(slice.checks, 0)
})

/** Elements that differ at their end only. */
const elements = (count: number) => Array.from({ length: count }, (_, index) => [...numbers, index])

const longCalls: readonly (readonly [expression: string, self: unknown, value: unknown])[] = [
  ['self.findAll("x").size()', 'x'.repeat(50_000), 50_000n],
  ['self.find("(?i)(ä|ö|a|b){1,300}c")', 'ab'.repeat(1_000), ''],
  ['self.matches("(?i)(ä|ö|a|b){1,300}c")', 'ab'.repeat(1_000), false],
  ['self.matches("(a|b)*a(a|b){100}c")', 'ab'.repeat(5_000), false],
  ['sets.contains(self, self.map(x, x + []))', elements(250), true],
  ['sets.intersects(self, self.map(x, x + [1]))', elements(250), false],
  ['self.distinct().size()', elements(200), 200n],
]
for (const [expression, self, value] of longCalls)
  test(`a single call is interrupted: ${expression}`, () => {
    const steps = compile(expression, environment).outcomeInSlices({ self: fromJson(self) }, costMax, new NoSlice())
    let yields = 0
    let step = steps.next()
    for (; step.done !== true; step = steps.next()) yields++
    deepEqual(step.value.value, value)
    ok(yields >= 3, `${yields} interruptions`)
  })

test('a chain of calls with large arguments is interrupted between them', () => {
  const expression = Array.from({ length: 20 }, () => 'self.size() > 0').join(' && ')
  const steps = compile(expression, environment).outcomeInSlices({ self: 'x'.repeat(50_000) }, costMax, new NoSlice())
  let yields = 0
  while (steps.next().done !== true) yields++
  ok(yields >= 20, `${yields} interruptions`)
})

test('a call beyond the cost limit is not begun', () => {
  const program = compile('sets.contains(self, self)', environment)
  const long = fromJson(Array.from({ length: 3_000 }, (_, index) => index))
  const outcome = runToEnd((slice) => program.outcomeInSlices({ self: long }, costMax, slice))
  equal(outcome.error?.message, 'operation cancelled: actual cost limit exceeded')
})
