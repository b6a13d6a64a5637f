// Texts that are no addresses, ranges and versions: the predicate is false, and the constructor fails with the text.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compile } from '../program.ts'
import { dynType } from '../types/cel-type.ts'
import { EvalError } from '../values/eval-error.ts'
import { fromJson } from '../values/json-value-conversion.ts'
import { kubernetesEnvironment } from './kubernetes.ts'

const environment = kubernetesEnvironment({}).with({ object: dynType })
const costMax = 1_000_000

const addresses = [
  ...['', '1.2.3', '1.2.3.4.5', '1.2.3.256', '01.2.3.4', '1..2.3', 'a.b.c.d', '1.2.3.4:80', '1.2.3.4/8'],
  ...['1:2', '::1::2', '1:2:3:4:5:6:7:8:9', '12345::1', '::g', 'fe80::1%eth0', '::ffff:1.2.3.4', '::1.2.3', ':1', '1:'],
]
const ranges = [
  ...['', '/8', '1.2.3.4', '1.2.3.4/33', '1.2.3.4/-1', '1.2.3.4/x', '1.2.3.4/', '1.2.3.4/08', 'x/8'],
  ...['::1', '::1/129', '::1%a/64', '::ffff:1.2.3.4/96', '1::2::3/64'],
]
/** Among them the invalid ones of semver.org. */
const versions = [
  ...[
    '',
    '1',
    '1.2',
    '1.2.3.4',
    'v1.2.3',
    '1.02.3',
    '01.1.1',
    '1.1.01',
    '1.2.x',
    'a.b.c',
    '-1.2.3',
    '1.2.3-',
    '1.2.3+',
  ],
  ...[
    '1.2.3-01',
    '1.2.3-0123.0123',
    '1.2.3-a..b',
    '1.2.3-a_b',
    '1.2.3-ä',
    '1.2.3+a b',
    '1.1.2+.123',
    '+invalid',
    'alpha.',
  ],
]

const evaluate = (expression: string, text: string): unknown =>
  compile(expression, environment).evaluate({ object: fromJson({ text }) }, costMax).value

const tables: readonly (readonly [predicate: string, constructor: string, texts: readonly string[]])[] = [
  ['isIP', 'ip', addresses],
  ['isCIDR', 'cidr', ranges],
  ['isSemver', 'semver', versions],
]
for (const [predicate, constructor, texts] of tables)
  for (const text of texts)
    test(`${constructor}(${JSON.stringify(text)}) fails, and ${predicate} is false`, () => {
      assert.equal(evaluate(`${predicate}(object.text)`, text), false)
      assert.throws(() => evaluate(`${constructor}(object.text)`, text), EvalError)
    })
