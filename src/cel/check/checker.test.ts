// Issues that the checker reports, in upstream's words.
import { deepEqual, equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { kubernetesEnvironment } from '../library/kubernetes.ts'
import { compile } from '../program.ts'
import { parse } from '../syntax/parser.ts'
import { dynType, intType, listOf, mapOf, objectType, optionalOf, stringType, typeText } from '../types/cel-type.ts'
import { LiteralMap } from '../values/map-value.ts'
import { check } from './checker.ts'

const point = objectType('Point', { x: intType })
const environment = kubernetesEnvironment({}).with(
  {
    list: listOf(intType),
    map: mapOf(stringType, intType),
    point,
    maybe: optionalOf(intType),
    any: dynType,
    text: stringType,
  },
  {
    dialect: 'kubernetesWithBind',
    structs: (name) =>
      name === 'Point'
        ? { type: point, fieldType: (field) => (field === 'x' ? intType : undefined), create: () => new LiteralMap([]) }
        : undefined,
  },
)

const issues: readonly (readonly [expression: string, message: string])[] = [
  ['point.y', "undefined field 'y'"],
  ['text.y', "type 'string' does not support field selection"],
  ['[?text]', "expected type 'optional_type(string)' but found 'string'"],
  ['Point{y: 1}', "undefined field 'y'"],
  ['Point{x: "a"}', "expected type of field 'x' is 'int' but provided type is 'string'"],
  ['text{x: 1}', "unexpected failed resolution of 'text'"],
  ['int{}', "'int' is not a message type"],
  ['Line{}', "undeclared reference to 'Line' (in container '')"],
  [
    'text.all(c, true)',
    "expression of type 'string' cannot be range of a comprehension (must be list, map, or dynamic)",
  ],
  ['list.filter(x, x)', "found no matching overload for '_?_:_' applied to '(int, list(int), list(int))'"],
  [
    'list.transformMapEntry(i, x, x)',
    "found no matching overload for 'cel.@mapInsert' applied to '(map(dyn, dyn), int)'",
  ],
  ['text.optMap(x, x)', "found no matching overload for 'hasValue' applied to 'string.()'"],
  ['maybe.optFlatMap(x, x)', "found no matching overload for '_?_:_' applied to '(bool, int, optional_type(dyn))'"],
  ['1 + "a"', "found no matching overload for '_+_' applied to '(int, string)'"],
  ['[1, "a"]', "expected type 'int' but found 'string'"],
  ['[1, dyn("a")]', "expected type 'int' but found 'dyn'"],
  ['{"a": 1, "b": "c"}', "expected type 'int' but found 'string'"],
  ['text.matches("(")', 'invalid matches argument'],
  ['timestamp("soon")', 'invalid timestamp argument'],
  ['timestamp(9999999999999)', 'invalid timestamp argument'],
  ['duration("long")', 'invalid duration argument'],
  ['"%d".format(["a"])', 'error during formatting: decimal clause can only be used on integers, was given string'],
  ['"%s".format([[point]])', /was given Point/.source],
  ['"%s %s".format([1])', 'index 1 out of range'],
  ['"%q".format([1])', 'could not parse formatting clause: unrecognized formatting clause "q"'],
  ['"%d".format([1, 2])', 'too many arguments supplied to string.format (expected 1, got 2)'],
]
for (const [expression, message] of issues)
  test(`${expression} is rejected`, () => {
    throws(
      () => compile(expression, environment),
      (error: Error) => error.message.includes(message.replace(/\\/g, '')),
    )
  })

const types: readonly (readonly [expression: string, type: string])[] = [
  ['point.x', 'int'],
  ['maybe.optMap(x, [x])', 'optional_type(list(int))'],
  ['maybe.optFlatMap(x, optional.of(string(x)))', 'optional_type(string)'],
  ['any.optMap(x, x)', 'optional_type(dyn)'],
  ['point.?x', 'optional_type(int)'],
  ['[?maybe, 1]', 'list(int)'],
  ['{?"a": maybe}', 'map(string, int)'],
  ['[?any]', 'list(dyn)'],
  ['list.transformMapEntry(i, x, {x: i})', 'map(int, int)'],
  ['any.map(x, x)', 'list(dyn)'],
  ['[].map(x, x.a)', 'list(dyn)'],
  ['Point{x: 1}', 'Point'],
  ['timestamp(1700000000)', 'timestamp'],
  ['"%s".format([any])', 'string'],
  ['list == [] || map == {}', 'bool'],
  ['type(list)', 'type(list(int))'],
]
for (const [expression, type] of types)
  test(`${expression} is of type ${type}`, () => {
    const { issues: found, type: resolved } = check(parse(expression, environment.dialect), environment)
    deepEqual(found, [])
    equal(typeText(resolved), type)
  })
