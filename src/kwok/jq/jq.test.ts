// jq expressions as in the selectors of Stages: the values that they give, and the messages of those that cannot be parsed.
import { deepEqual, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { evaluateJq } from './jq-evaluate.ts'
import { parseJq } from './jq-parser.ts'
import type { JqValue } from './jq-query.ts'

const pod: JqValue = {
  metadata: {
    name: 'web',
    labels: { 'app.kubernetes.io/name': 'web' },
    ownerReferences: [{ kind: 'Job' }, { kind: 'Node' }],
  },
  spec: { replicas: 3, hostNetwork: false },
  status: {
    conditions: [
      { type: 'Ready', status: 'True' },
      { type: 'Initialized', status: 'False' },
    ],
  },
}

const rows: readonly (readonly [expression: string, values: readonly JqValue[] | undefined])[] = [
  ['.', [pod]],
  ['.metadata.name', ['web']],
  ['.metadata.deletionTimestamp', [null]],
  ['.a.b.c', [null]],
  ['.metadata.labels["app.kubernetes.io/name"]', ['web']],
  ['.metadata["name"]', ['web']],
  ['."metadata".name', ['web']],
  ['.metadata.ownerReferences.[].kind', ['Job', 'Node']],
  ['.metadata.ownerReferences[].kind', ['Job', 'Node']],
  ['.metadata.ownerReferences[1].kind', ['Node']],
  ['.metadata.ownerReferences[-1].kind', ['Node']],
  ['.metadata.ownerReferences[9].kind', [null]],
  ['.metadata.finalizers.[]', undefined],
  ['.metadata.finalizers[]?', []],
  ['.metadata.name.first', undefined],
  ['.metadata.name.first?', []],
  ['.metadata.name | .[0]', undefined],
  ['.status.conditions.[] | select( .type == "Ready" ) | .status', ['True']],
  ['.status.conditions.[] | select(.type == "Lost") | .status', []],
  ['.status.conditions | map(.type)', [['Ready', 'Initialized']]],
  ['[.status.conditions[] | select(.status == "True" and .type != "Lost")] | length', [1]],
  ['[]', [[]]],
  ['.metadata.generation // 7', [7]],
  ['.metadata.finalizers[] // "none"', ['none']],
  ['.metadata.x // .metadata.y // "z"', ['z']],
  ['.metadata.name, .spec.replicas', ['web', 3]],
  ['.spec.replicas + 2 * 3 - 1', [8]],
  ['-.spec.replicas', [-3]],
  ['.spec.replicas % 2', [1]],
  ['6 / .spec.replicas', [2]],
  ['1 / 0', undefined],
  ['[1, 2, 3] - [2]', [[1, 3]]],
  ['.metadata.name + "-0"', ['web-0']],
  ['.metadata.labels + .spec | keys', [['app.kubernetes.io/name', 'hostNetwork', 'replicas']]],
  ['.spec.replicas > 2 or .spec.hostNetwork', [true]],
  ['.spec.replicas < 2 or .spec.hostNetwork', [false]],
  ['.spec.replicas <= 3 and .spec.replicas >= 3', [true]],
  ['.spec.hostNetwork | not', [true]],
  ['if .spec.replicas > 5 then "many" elif .spec.replicas > 2 then "some" else "few" end', ['some']],
  ['if .spec.hostNetwork then 1 end | type', ['object']],
  ['.metadata | has("name"), has("uid")', [true, false]],
  ['.metadata.ownerReferences | has(1), has(2)', [true, false]],
  ['.metadata.ownerReferences | any(.kind == "Job"), all(.kind == "Job")', [true, false]],
  ['[true, false] | any, all', [true, false]],
  ['.metadata.ownerReferences | first.kind, last.kind', ['Job', 'Node']],
  ['first(.status.conditions[].type)', ['Ready']],
  ['first(empty)', []],
  ['.metadata.name | startswith("w"), endswith("w")', [true, false]],
  ['.metadata.name | startswith(1)', undefined],
  ['"a-b" | split("-") | join("+")', ['a+b']],
  ['["a", null, 1] | join(",")', ['a,,1']],
  ['"web-0" | ltrimstr("web-") | tonumber', [0]],
  ['"web-0" | rtrimstr("-0") | ascii_upcase | ascii_downcase', ['web']],
  ['"x" | tonumber', undefined],
  ['.spec.replicas | tostring', ['3']],
  ['[null, 1, "a", [], .spec] | map(type)', [['null', 'number', 'string', 'array', 'object']]],
  ['null | length', [0]],
  ['"abc" | length', [3]],
  ['[1, 2] | add', [3]],
  ['[[1], [2]] | add | contains([2])', [true]],
  ['.spec | contains(.)', [true]],
  ['"foobar" | contains("bar")', [true]],
  ['1 | add', undefined],
  ['[1, 2] < [1, 3]', [true]],
  ['[1] < [1, 3]', [true]],
  ['.spec == .spec', [true]],
  ['.metadata.labels < .spec', [true]],
  ['"a" < "b", "b" < "a", null < false', [true, false, true]],
  ['1 + "a"', undefined],
  ['["a", "b"] | keys', [[0, 1]]],
]
for (const [expression, expected] of rows)
  test(expression, () => deepEqual(evaluateJq(parseJq(expression), pod), expected))

const invalid: readonly (readonly [expression: string, message: RegExp])[] = [
  ['', /unexpected end/],
  ['.a |', /unexpected end/],
  ['.a.', /unexpected "\."/],
  ['(.a', /unexpected end/],
  ['.a)', /unexpected "\)" at 2/],
  ['foo', /function not defined: foo\/0/],
  ['select(.a; .b)', /function not defined: select\/2/],
  ['"a\\q"', /invalid string at 0/],
  ['{ a: 1 }', /unexpected "\{" at 0/],
  ['#', /unexpected "#" at 0/],
  ['if .a then 1', /unexpected end/],
  ['if .a else 1', /unexpected "else"/],
  ['1 == 2 == 3', /unexpected "=="/],
  ['('.repeat(101), /nested more than 100 levels/],
  ['.'.repeat(10_001), /more than 10000 characters/],
]
for (const [expression, message] of invalid)
  test(`${expression.slice(0, 20)} cannot be parsed`, () => throws(() => parseJq(expression), message))

test('an expression that takes too many steps fails', () => {
  const ten = '(1,2,3,4,5,6,7,8,9,10)'
  deepEqual(evaluateJq(parseJq(`[${[ten, ten, ten, ten, ten].join(' + ')}] | length`), null), undefined)
})

const doubled = (expression: string, times: number): string =>
  Array.from({ length: times }, () => expression).join(' | ')
/** Short expressions with values that would not fit into memory, or that would be compared for ever. */
const exploding: readonly string[] = [
  `"abc" | ${doubled('. + .', 60)} | length`,
  `[1] | ${doubled('. + .', 60)} | length`,
  `[1] | ${doubled('[.[], .[]]', 60)} | length`,
  `[1] | ${doubled('[., .]', 60)} | tostring | length`,
  `[1] | ${doubled('[., .]', 60)} | . == .`,
  `[1] | ${doubled('[., .]', 60)} | contains(.)`,
  `("ab" | ${doubled('. + .', 18)} | split("b")) | join("0123456789")`,
  `[1] | ${doubled('map(., .)', 60)} | length`,
]
for (const expression of exploding)
  test(`${expression.slice(0, 30)}… fails`, () => deepEqual(evaluateJq(parseJq(expression), null), undefined))
