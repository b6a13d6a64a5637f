// Kubernetes' functions with edge values: their results, and the errors in upstream's wording.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compile } from '../program.ts'
import { dynType } from '../types/cel-type.ts'
import { EvalError } from '../values/eval-error.ts'
import { fromJson, toJson } from '../values/json-value-conversion.ts'
import { kubernetesEnvironment } from './kubernetes.ts'
import { AuthorizationDecisions, authorizerType, Check } from './kubernetes/authorizer-functions.ts'

const environment = kubernetesEnvironment({ short: () => [], long: () => [] }).with({
  object: dynType,
  authorizer: authorizerType,
})
const costMax = 1_000_000
const answers = new AuthorizationDecisions()
answers.set({ path: '/healthz', verb: 'get' }, { isAllowed: false, reason: 'no rule', error: 'no answer' })
answers.set(
  { serviceAccount: { namespace: 'x', name: 'a' }, group: '', resource: 'pods', subresource: 'log', verb: 'get' },
  { isAllowed: true, reason: 'a role', error: '' },
)
const variables = {
  object: fromJson({ mixed: [1, 'a'], maps: [{}, {}], none: [] }),
  authorizer: new Check(authorizerType, {}, answers),
}
const evaluate = (expression: string) => compile(expression, environment).evaluate(variables, costMax).value

const account = `authorizer.serviceAccount('x', 'a').group('').resource('pods').subresource('log').check('get')`
const results: readonly (readonly [expression: string, expected: unknown])[] = [
  [`authorizer.path('/healthz').check('get').allowed()`, false],
  [`authorizer.path('/healthz').check('get').reason()`, 'no rule'],
  [`authorizer.path('/healthz').check('get').errored()`, true],
  [`authorizer.path('/healthz').check('get').error()`, 'no answer'],
  [`${account}.allowed()`, true],
  [`${account}.errored()`, false],

  [`format.named('short').value() == format.short()`, true],
  [`format.long() == format.short()`, false],

  [`ip('10.0.0.1').family()`, 4],
  [`string(cidr('10.1.2.3/8'))`, '10.1.2.3/8'],
  [`string(cidr('10.1.2.3/8').masked())`, '10.0.0.0/8'],
  [`cidr('10.0.0.0/8').containsCIDR(cidr('10.0.0.0/7'))`, false],
  [`cidr('10.0.0.0/8').containsCIDR(cidr('10.0.0.0/8'))`, true],
  [`cidr('0.0.0.0/0').containsIP('::1')`, false],

  [`[3, 1, 2].sort()`, [1, 2, 3]],
  [`object.none.sort()`, []],
  [`['ccc', 'a', 'bb'].sortBy(s, s.size())`, ['a', 'bb', 'ccc']],
  [`[1, 2, 3].slice(1, 3)`, [2, 3]],
  [`[1, 2, 3].slice(3, 3)`, []],
  [`[[1], [2, 3], []].flatten()`, [1, 2, 3]],
  [`[dyn([dyn(1), dyn([dyn(2), dyn([3])])]), dyn(4)].flatten(2)`, [1, 2, [3], 4]],
  [`[dyn([1])].flatten(0)`, [[1]]],
  [`lists.range(3)`, [0, 1, 2]],
  [`lists.range(-1)`, []],
  [
    `[dyn(1), dyn(1.0), dyn(1u), dyn('1'), dyn('1'), dyn(null), dyn([1]), dyn([2]), dyn([1])].distinct()`,
    [1, '1', null, [1], [2]],
  ],
  [`[true, false, true].distinct()`, [true, false]],
  [`[1, 2].first().value() + [1, 2].last().value()`, 3],
  [`object.none.first().hasValue() || object.none.last().hasValue()`, false],
  [`[1, 2].reverse()`, [2, 1]],

  [`[1u, 2u].sum() == 3u`, true],
  [`[0.5, 1.0].sum()`, 1.5],
  [`[duration('1s'), duration('500ms')].sum() == duration('1500ms')`, true],
  [`[].sum() == 0 && [].isSorted()`, true],
  [`[1.5, 1.5, 2.0].isSorted() && ['a', 'b'].max() == 'b' && [2, 1, 3].min() == 1`, true],

  [`[sign(quantity('1m')), sign(quantity('-1m')), sign(quantity('0'))]`, [1, -1, 0]],
  [`quantity('500m').isInteger() || quantity('9223372036854775807').add(1).isInteger()`, false],
  [`quantity('-9223372036854775807').asInteger() == -9223372036854775807`, true],
  [`quantity('1Ki').isLessThan(quantity('1025')) && !quantity('1').isLessThan(quantity('1000m'))`, true],
  [`quantity('1').compareTo(quantity('1000m'))`, 0],
  [`quantity('1M').compareTo(quantity('1Mi'))`, -1],

  [`'abc'.find('[0-9]+')`, ''],
  [`'a1b2'.findAll('[0-9]')`, ['1', '2']],
  [`'a1b2'.findAll('[0-9]', -1)`, ['1', '2']],
  [`'a1b2'.findAll('[0-9]', 0)`, []],
  [`'a1b2'.findAll('[0-9]', 1)`, ['1']],
  [`'${'a'.repeat(600)}'.findAll('a').size()`, 600],

  [`isSemver('v1', true) && !isSemver('v1', false) && !isSemver('x', true)`, true],
  [`semver('18446744073709551615.0.0').isGreaterThan(semver('9.0.0'))`, true],
  [`semver('1.0.0+a') == semver('1.0.0+b')`, true],

  [`url('HTTPS://a.example/').getScheme()`, 'https'],
  [`url('/path').getScheme() + url('/path').getHost() + url('/path').getPort()`, ''],
  [`url('https://a.example:8443/').getHostname() + ' ' + url('https://a.example/').getPort()`, 'a.example '],
  [`url('https://a.example/') == url('https://a.example/') && url('/a') != url('/b')`, true],
]
for (const [expression, expected] of results)
  test(`the result of ${expression.slice(0, 100)}`, () => {
    assert.deepEqual(toJson(evaluate(expression)), expected)
  })

/** The order of semver.org, from low to high. */
const versions = [
  ...['0.9.9', '1.0.0-1', '1.0.0-2', '1.0.0-10', '1.0.0-alpha', '1.0.0-alpha.1', '1.0.0-alpha.beta', '1.0.0-beta'],
  ...['1.0.0-beta.2', '1.0.0-beta.11', '1.0.0-rc.1', '1.0.0', '1.0.1', '1.1.0', '1.10.0', '2.0.0'],
]
test('every version is compared with every other', () => {
  for (const [x, a] of versions.entries())
    for (const [y, b] of versions.entries())
      assert.equal(evaluate(`semver('${a}').compareTo(semver('${b}'))`), BigInt(Math.sign(x - y)), `${a} and ${b}`)
})

const quantityForm = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
const failures: readonly (readonly [expression: string, message: string])[] = [
  [`authorizer.path('')`, 'path must not be empty'],
  [`cidr('10.0.0.0/8').containsIP('10.0.0.256')`, 'no such overload'],
  [`object.mixed.sort()`, 'list elements must have the same type'],
  [`object.maps.sort()`, 'list elements must be comparable'],
  [`[1].slice(-1, 1)`, 'cannot slice(-1, 1), negative indexes not supported'],
  [`[1].slice(0, -1)`, 'cannot slice(0, -1), negative indexes not supported'],
  [`[1].slice(1, 0)`, 'cannot slice(1, 0), start index must be less than or equal to end index'],
  [`[1].slice(0, 2)`, 'cannot slice(0, 2), list is length 1'],
  [`[dyn(1)].flatten(-1)`, 'level must be non-negative'],
  [`lists.range(1000001)`, 'list exceeds 1000000 elements'],
  [`object.none.min()`, 'min called on empty list'],
  [`object.none.max()`, 'max called on empty list'],
  [`object.mixed.isSorted()`, 'no such overload'],
  [`[9223372036854775807, 1].sum()`, 'integer overflow'],
  [`[18446744073709551615u, 1u].sum()`, 'unsigned integer overflow'],
  [`quantity('')`, quantityForm],
  [`quantity('1 Gi')`, quantityForm],
  [`quantity('500m').asInteger()`, 'cannot convert value to integer'],
  [`quantity('9223372036854775807').add(1).asInteger()`, 'cannot convert value to integer'],
  [`semver('18446744073709551616.0.0')`, 'strconv.ParseUint: parsing "18446744073709551616": value out of range'],
  [`semver('1.2.3-')`, 'Prerelease is empty'],
  [`semver('1.2.3-01')`, 'Numeric PreRelease version must not contain leading zeroes "01"'],
  [`semver('1.2.3+')`, 'Build meta data is empty'],
  [`semver('1.2.3+a_b')`, 'Invalid character(s) found in build meta data "a_b"'],
  [`semver('1.02.3')`, 'Minor number must not contain leading zeroes "02"'],
  [`semver('1.2')`, 'No Major.Minor.Patch elements found'],
  [`semver('va.2', true)`, 'Invalid character(s) found in major number "a"'],
  [`url('a/b')`, 'URL parse error during conversion from string: parse "a/b": invalid URI for request'],
]
for (const [expression, message] of failures)
  test(`the error of ${expression}`, () => {
    assert.throws(
      () => evaluate(expression),
      (error) => error instanceof EvalError && (assert.equal(error.message, message), true),
    )
  })
