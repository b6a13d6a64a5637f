// Texts and formats as Kubernetes' version of the libraries writes them.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { compile } from '../program.ts'
import { dynType } from '../types/cel-type.ts'
import { fromJson } from '../values/json-value-conversion.ts'
import { kubernetesEnvironment } from './kubernetes.ts'

const environment = kubernetesEnvironment({}).with({ object: dynType })
const outcomeOf = (expression: string, object: unknown = {}) =>
  compile(expression, environment).outcome({ object: fromJson(object) }, 1_000_000)

const formats: readonly (readonly [expression: string, text: string])[] = [
  ['"%s".format([dyn(1234567.5)])', '1.2345675e+06'],
  ['"%s".format([dyn(double("NaN"))])', 'NaN'],
  ['"%s".format([dyn(double("-Infinity"))])', '-Inf'],
  ['"%s".format([dyn(-0.0)])', '-0'],
  ['"%s".format([dyn(0.00001)])', '1e-05'],
  ['"%f".format([1234567.5])', '1,234,567.500000'],
  ['"%.2f".format([-1234.567])', '-1,234.57'],
  ['"%.0f".format([1234.0])', '1,234'],
  ['"%e".format([1234.5])', '1.234500×10⁰³'],
  ['"%e".format([0.00012])', '1.200000×10⁻⁰⁴'],
  ['"%s".format([dyn([1.5, 2, "a", b"x", true, null])])', '[1.500000, 2, "a", b"x", true, null]'],
  [
    '"%s".format([dyn([timestamp("2024-01-01T00:00:00Z"), duration("90s"), double("Infinity")])])',
    '[timestamp("2024-01-01T00:00:00Z"), duration("90s"), +Inf]',
  ],
  ['"%s".format([dyn({"b": 1, "a": "x"})])', '{"a":"x", "b":1}'],
  ['"%s %s %s".format([dyn(3u), b"x", type(1)])', '3 x int'],
  ['"%s %s".format([timestamp("2024-01-01T00:00:00Z"), duration("1.5s")])', '2024-01-01T00:00:00Z 1.5s'],
  ['"%% %d %x %X %o %b %b".format([5, 255, "hi", 8, 5, true])', '% 5 ff 6869 10 101 1'],
]
for (const [expression, text] of formats)
  test(`${expression} is ${text}`, () => equal(outcomeOf(expression).value, text))

const clause = 'could not parse formatting clause:'
const wrongFormats: readonly (readonly [pattern: string, message: string])[] = [
  ['%.3', `${clause} error while parsing precision: could not find end of precision specifier`],
  [
    '%.f',
    `${clause} error while parsing precision: error while converting precision to integer: strconv.Atoi: parsing "": invalid syntax`,
  ],
  [
    '%.99999999999999999999f',
    `${clause} error while parsing precision: error while converting precision to integer: strconv.Atoi: parsing "99999999999999999999": value out of range`,
  ],
  ['%', 'unexpected end of string'],
  ['%q', `${clause} unrecognized formatting clause "q"`],
  ['%s %s', 'index 1 out of range'],
]
for (const [pattern, message] of wrongFormats)
  test(`the format ${pattern} that is not a literal fails`, () =>
    equal(outcomeOf('object.pattern.format([1.5])', { pattern }).error?.message, message))

const texts: readonly (readonly [expression: string, value: unknown])[] = [
  ['"a😀b".substring(1, 2)', '😀'],
  ['"abc".indexOf("c", 9)', -1n],
  ['"abc".lastIndexOf("a", 9)', -1n],
  ['"abcabc".lastIndexOf("b", 3)', 1n],
  ['"ab".indexOf("")', 0n],
  ['"ab".lastIndexOf("")', 2n],
  ['"ab".replace("", "-")', '-a-b-'],
  ['"ab".replace("", "-", 2)', '-a-b'],
  ['"ab".replace("", "-", 9)', '-a-b-'],
  ['"aaa".replace("a", "b", 2)', 'bba'],
  ['"a,b,c".split(",", 2)', ['a', 'b,c']],
  ['"abc".split("")', ['a', 'b', 'c']],
  ['"abc".split("", 0)', []],
  ['["a", "b"].join()', 'ab'],
  ['"\\u00a0 x\\t".trim()', 'x'],
  ['"ÄbC".lowerAscii() + "äbc".upperAscii()', 'ÄbcäBC'],
]
for (const [expression, value] of texts)
  test(`${expression} is ${JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? String(each) : each))}`, () =>
    deepEqual(outcomeOf(expression).value, value))

const failures: readonly (readonly [expression: string, message: string])[] = [
  ['dyn([1]).join()', 'no such overload'],
  ['"abc".substring(2, 1)', 'invalid substring range. start: 2, end: 1'],
  ['"%d".format([dyn("x")])', 'error during formatting: decimal clause can only be used on integers, was given string'],
]
for (const [expression, message] of failures)
  test(`${expression} fails`, () => equal(outcomeOf(expression).error?.message, message))
