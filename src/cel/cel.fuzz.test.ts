// Expressions of any text are parsed or rejected with an ExpressionError, and evaluated within their cost or ended with an
// EvalError or an Interrupt. Expressions that the grammar generates can be parsed.
import { ok } from 'node:assert/strict'
import { fuzz, mutatedText, pick, randomJson, rejectedOnlyWith } from '../base/random/fuzz.harness.ts'
import type { Random } from '../base/random/random.ts'
import { kubernetesEnvironment } from './library/kubernetes.ts'
import { compile } from './program.ts'
import { parse } from './syntax/parser.ts'
import { ExpressionError } from './syntax/source.ts'
import { dynType } from './types/cel-type.ts'
import { EvalError, Interrupt } from './values/eval-error.ts'
import { fromJson } from './values/json-value-conversion.ts'

const environment = kubernetesEnvironment({}).with({ object: dynType, other: dynType })
const costMax = 10_000

/** A random expression of the grammar; most of them are rejected by the checker or fail in the evaluation. */
function randomExpression(random: Random, depth = 0): string {
  const inner = () => randomExpression(random, depth + 1)
  if (depth > 4 || random.below(4) === 0)
    return pick(random, [
      'object',
      'other',
      '1',
      '-2',
      '3u',
      '1.5',
      'true',
      'null',
      `'a'`,
      `b'x'`,
      `r"\\d"`,
      '[]',
      '{}',
      'e',
    ])
  return pick<() => string>(random, [
    () => `${inner()} ${pick(random, ['+', '-', '*', '/', '%', '==', '!=', '<', '>=', '&&', '||', 'in'])} ${inner()}`,
    () => `(${inner()} ? ${inner()} : ${inner()})`,
    () => `${pick(random, ['!', '-'])}(${inner()})`,
    () => `[${inner()}, ${inner()}]`,
    () => `{${inner()}: ${inner()}, 'a': ${inner()}}`,
    () => `(${inner()}).${pick(random, ['a', 'spec', 'constructor', '?b'])}`,
    () => `(${inner()})[${inner()}]`,
    () => `(${inner()}).${pick(random, ['all', 'exists', 'map', 'filter', 'exists_one'])}(e, ${inner()})`,
    () =>
      `${pick(random, ['size', 'string', 'int', 'double', 'duration', 'timestamp', 'quantity', 'url', 'semver', 'ip', 'cidr', 'type', 'bytes', 'dyn'])}(${inner()})`,
    () =>
      `(${inner()}).${pick(random, ['matches', 'startsWith', 'split', 'join', 'find', 'replace', 'format', 'trim', 'lowerAscii', 'orValue', 'sum', 'indexOf'])}(${pick(random, [inner(), ''])})`,
    () => `cel.bind(e, ${inner()}, ${inner()})`,
    () => `has(object.${pick(random, ['a', 'toString'])})`,
    () => `optional.of(${inner()}).hasValue()`,
  ])()
}

function evaluated(text: string, random: Random): void {
  const program = rejectedOnlyWith([ExpressionError], () => compile(text, environment))
  if (program === undefined) return
  const object = fromJson(randomJson(random))
  const other = fromJson(randomJson(random))
  const result = rejectedOnlyWith([EvalError, Interrupt], () => program.evaluate({ object, other }, costMax))
  if (result !== undefined) ok(result.cost <= costMax)
}

fuzz('expressions by the grammar', {
  runs: 3_000,
  make: (random) => randomExpression(random),
  check(text, random) {
    parse(text)
    evaluated(text, random)
  },
})

const dictionary = [
  '(',
  ')',
  '[',
  ']',
  '{',
  '}',
  '.',
  '?',
  ':',
  '&&',
  '||',
  '!',
  `'`,
  '"""',
  '\\',
  'r',
  '`',
  '//',
  '0x',
  'e9',
  '\n',
]

fuzz('expressions of any text', {
  runs: 3_000,
  make: (random) => mutatedText(randomExpression(random), random, dictionary),
  check: evaluated,
})
