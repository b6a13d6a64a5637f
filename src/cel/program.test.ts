// Programs: constants that cannot be computed, and pauses between the phases of a compilation.
import { deepEqual, equal, ok, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { endlessSlice, runToEnd } from '../base/work/work-slice.ts'
import { Environment } from './environment/environment.ts'
import { global } from './environment/function.ts'
import { kubernetesEnvironment } from './library/kubernetes.ts'
import { compile, compileInSlices, Program } from './program.ts'
import { CostLimitError } from './run/evaluation-frame.ts'
import { ExpressionError } from './syntax/source.ts'
import { boolType, dynType, intType, listOf, stringType } from './types/cel-type.ts'
import { EvalError, Interrupt } from './values/eval-error.ts'
import { LiteralMap } from './values/map-value.ts'

const environment = kubernetesEnvironment({}).with({ self: dynType, list: listOf(intType) })

test('a constant that cannot be computed is the error of every evaluation', () => {
  const program = compile('int("x") == 1', environment)
  ok(program.constantError instanceof EvalError)
  equal(program.outcome({}, 100).error, program.constantError)
  equal(program.shortOutcome({}, 100)?.error, program.constantError)
  equal(runToEnd((slice) => program.outcomeInSlices({}, 100, slice)).error, program.constantError)
  equal(compile('int("1") == 1', environment).constantError, undefined)
})

test('an error of an evaluation is thrown or returned', () => {
  const program = compile('1 / self > 0', environment)
  throws(() => program.evaluate({ self: 0n }, 100), /division by zero/)
  equal(program.outcome({ self: 0n }, 100).error?.message, 'division by zero')
  equal(program.evaluate({ self: 1n }, 100).value, true)
  ok(program.shortOutcome({ self: 1n }, 2)?.error instanceof CostLimitError)
})

const nullArguments: readonly (readonly [expression: string, error: string])[] = [
  ["null['x']", 'no such key: x'],
  ['(self ? null : optional.of([1]))[0]', 'no such key: 0'],
  ["(self ? null : duration('1s')).getHours()", 'no such overload: getHours(null_type)'],
  ["(self ? null : quantity('1')).isInteger()", 'no such overload: isInteger(null_type)'],
]
for (const [expression, error] of nullArguments)
  test(`null where another type is allowed is an error of the evaluation: ${expression}`, () => {
    equal(compile(expression, environment).outcome({ self: true }, 100).error?.message, error)
  })

test('errors that are not of the language are thrown by every evaluation', () => {
  class Pending extends Interrupt {}
  class Waiting extends LiteralMap {
    override get(): never {
      throw new Pending('not yet')
    }
  }
  const program = compile('self.a == 1', environment)
  const activation = { self: new Waiting([]) }
  throws(() => program.outcome(activation, 100), Pending)
  throws(() => program.shortOutcome(activation, 100), Pending)
  throws(() => runToEnd((slice) => program.outcomeInSlices(activation, 100, slice)), Pending)
  const long = compile('list.all(x, list.all(y, x + y >= 0)) && self.a == 1', environment)
  const list = Array.from({ length: 60 }, (_, index) => BigInt(index))
  throws(() => runToEnd((slice) => long.outcomeInSlices({ list, ...activation }, 1_000_000, slice)), Pending)
  const failing = global('broken', [stringType], boolType, () => {
    throw new RangeError('broken')
  })
  const broken = compile('bool("x")', new Environment({ functions: [{ bool: [failing] }] }))
  throws(() => broken.outcome({}, 100), RangeError)
})

test('a long evaluation that fails in a later slice', () => {
  const program = compile('list.all(x, list.all(y, x + y >= 0)) && self.missing', environment)
  const list = Array.from({ length: 60 }, (_, index) => BigInt(index))
  const slice = { isUsedUp: () => true }
  const steps = program.outcomeInSlices({ list, self: new LiteralMap([]) }, 1_000_000, slice)
  let step = steps.next()
  let yields = 0
  for (; step.done !== true; step = steps.next()) yields++
  ok(yields > 10)
  deepEqual([step.value.value, step.value.error?.message], [undefined, 'no such key: missing'])
})

/** Compiles with a slice that is always used up. */
function compiledInSlices(text: string): { readonly program: Program | ExpressionError; readonly pauses: number } {
  const compilation = compileInSlices(text, environment, { isUsedUp: () => true })
  for (let pauses = 0; ; pauses++)
    try {
      const step = compilation.next()
      if (step.done === true) return { program: step.value, pauses }
    } catch (error) {
      if (error instanceof ExpressionError) return { program: error, pauses }
      throw error
    }
}

test('a compilation pauses between its phases when its slice is used up', () => {
  equal(compiledInSlices('self == 1').pauses, 4)
  equal(compileInSlices('self == 1', environment, endlessSlice).next().done, true)
})

const longExpressions = [
  ['a chain', Array.from({ length: 9_000 }, () => 'self == 1').join('||')],
  ['a list', `[${'1,'.repeat(30_000)}1].size() == 30001`],
  ['loops', Array.from({ length: 4_000 }, () => '[1].all(x,x>0)').join('&&')],
  ['parentheses', Array.from({ length: 200 }, () => `${'('.repeat(200)}self == 1${')'.repeat(200)}`).join('||')],
] as const

for (const [what, text] of longExpressions)
  test(`a long expression is parsed and checked in several slices: ${what}`, () => {
    const { program, pauses } = compiledInSlices(text)
    ok(program instanceof Program)
    ok(pauses > 8, `${pauses} pauses`)
    equal(program.evaluate({ self: 1n, list: [] }, 1_000_000).value, true)
    deepEqual(program.tree, compile(text, environment).tree)
  })

test('the errors of a long expression are reported once, whatever the slices', () => {
  for (const part of ['self == missing', 'self == let', "'a' == 1"]) {
    const text = Array.from({ length: 9_000 }, (_, index) => (index % 100 === 0 ? part : 'true')).join('||')
    const { program } = compiledInSlices(text)
    ok(program instanceof ExpressionError)
    throws(() => compile(text, environment), program)
  }
})
