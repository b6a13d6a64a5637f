// Kubernetes' functions: expressions and their results.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compile } from '../program.ts'
import { fromJson, toJson } from '../values/json-value-conversion.ts'
import { dynType, stringType } from '../types/cel-type.ts'
import { EvalError } from '../values/eval-error.ts'
import { kubernetesEnvironment } from './kubernetes.ts'
import {
  AuthorizationDecisions,
  authorizerType,
  Check,
  PendingAuthorizationError,
} from './kubernetes/authorizer-functions.ts'

const environment = kubernetesEnvironment({ short: (text) => (text.length > 3 ? ['is too long'] : []) }).with({
  object: dynType,
  authorizer: authorizerType,
})
/** Kubernetes has no cel.bind; it keeps the expressions of these tests short. */
const withBind = environment.with({}, { dialect: 'kubernetesWithBind' })
const object = fromJson({ spec: { replicas: 3, ratio: 0.5, names: ['a', 'b'], empty: null }, 'a-b': 1 })
const costMax = 1_000_000

const cases: readonly (readonly [expression: string, expected: unknown])[] = [
  [`object.spec.replicas == 3 && object.spec.ratio < 1`, true],
  [`object.spec.names.exists(n, n == 'b') && object['a-b'] == 1`, true],
  [`has(object.spec.replicas) && !has(object.status)`, true],
  [`object.?status.?phase.orValue('none')`, 'none'],
  [`object.spec.empty == null`, true],
  [`url('https://u@example.com:8443/a%20b?x=1&x=2#f').getHost()`, 'example.com:8443'],
  [`url('https://[::1]:80/').getHostname() + url('https://[::1]:80/').getPort()`, '::180'],
  [`url('https://example.com/p?x=1&x=2').getQuery()`, { x: ['1', '2'] }],
  [`url('http://a/x y').getEscapedPath()`, '/x%20y'],
  [`isURL('http://a/x y') && !isURL('http://a b/') && !isURL('http://a/\\n') && !isURL('x y')`, true],
  [`isURL('/path') && !isURL('../up') && !isURL('no scheme')`, true],
  [`'abc 123 def 456'.find('[0-9]+') + 'abc 1 2 3'.findAll('[0-9]', 2).join(',')`, '1231,2'],
  [`[1, 2, 3].sum() == 6 && [1, 3, 2].max() == 3 && ['b', 'a'].min() == 'a'`, true],
  [`[1, 2, 2].isSorted() && ![2, 1].isSorted() && [1, 2, 1].lastIndexOf(1) == 2 && [1].indexOf(2) == -1`, true],
  [`quantity('1Gi').isGreaterThan(quantity('1G')) && quantity('500m').add(quantity('0.5')).asInteger() == 1`, true],
  [`quantity('1.5').sub(1).asApproximateFloat()`, 0.5],
  [`isQuantity('1.3Gi') && !isQuantity('1.3Gx') && quantity('1k') == quantity('1000')`, true],
  [`ip('127.0.0.1').isLoopback() && ip('fe80::1').isLinkLocalUnicast() && ip('::1').family() == 6`, true],
  [`string(ip('2001:DB8:0:0::1')) + ' ' + string(ip.isCanonical('2001:db8::1'))`, '2001:db8::1 true'],
  [`!isIP('10.0.0.256') && !isIP('010.0.0.1') && !isIP('::ffff:1.2.3.4') && !isIP('::ffff:102:304')`, true],
  [`isIP('64:ff9b::192.0.2.1')`, true],
  [`cidr('10.1.0.0/16').containsIP('10.1.2.3') && !cidr('10.1.0.0/16').containsIP(ip('10.2.0.1'))`, true],
  [`cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16') && cidr('10.1.2.3/8').masked() == cidr('10.0.0.0/8')`, true],
  [`cidr('::1/128').ip() == ip('::1') && cidr('::1/128').prefixLength() == 128`, true],
  [`semver('1.2.3').isLessThan(semver('1.10.0')) && semver('1.0.0-rc.1').isLessThan(semver('1.0.0'))`, true],
  [`semver('v1.02', true) == semver('1.2.0') && !isSemver('v1.0.0') && semver('1.2.3').minor() == 2`, true],
  [`sets.contains([1, 2], [2]) && sets.equivalent([1, 1, 2], [2, 1]) && !sets.intersects([1], [2])`, true],
  [`format.short().validate('abcd').value()`, ['is too long']],
  [`!format.short().validate('abc').hasValue() && !format.named('long').hasValue()`, true],
  [`{'a': 1}.transformMap(k, v, v + 1)`, { a: 2 }],
  [`['a', 'b'].transformList(i, v, v + string(i))`, ['a0', 'b1']],
  [`'%s has %d'.format(['x', 3])`, 'x has 3'],
]

test('the functions of the Kubernetes libraries', () => {
  for (const [expression, expected] of cases)
    assert.deepEqual(toJson(compile(expression, environment).evaluate({ object }, costMax).value), expected, expression)
})

test('a bound value is computed when it is read', () => {
  const expression = `cel.bind(n, object.missing, has(object.missing) ? n : 'unread')`
  assert.equal(compile(expression, withBind).evaluate({ object }, costMax).value, 'unread')
})

test('a query to the authorizer interrupts the evaluation, which is restarted with the decision', () => {
  const program = compile(
    `object.spec.replicas > 5 || authorizer.group('apps').resource('deployments').namespace('x').check('create').allowed()`,
    environment,
  )
  const answers = new AuthorizationDecisions()
  const variables = { object, authorizer: new Check(authorizerType, {}, answers) }
  let question: PendingAuthorizationError | undefined
  assert.throws(
    () => program.evaluate(variables, costMax),
    (error) => {
      if (error instanceof PendingAuthorizationError) question = error
      return error instanceof PendingAuthorizationError
    },
  )
  assert.deepEqual(question?.query, { group: 'apps', resource: 'deployments', namespace: 'x', verb: 'create' })
  if (question !== undefined) answers.set(question.query, { isAllowed: true, reason: '', error: '' })
  assert.equal(program.evaluate(variables, costMax).value, true)
})

test('an evaluation beyond its cost limit is stopped, and no operator ignores it', () => {
  const program = compile(`[1,2,3].all(x, [1,2,3].all(y, x != y)) || true`, environment)
  assert.throws(() => program.evaluate({}, 10), /operation cancelled: actual cost limit exceeded/)
})

test('results that grow faster than their cost are bounded', () => {
  /** Binds each name to an expression that repeats it many times, then evaluates the expression. */
  const repeated = (binds: readonly [name: string, value: string][], times: number, expression: string): string =>
    Array.from({ length: times }).reduce<string>(
      (inner) => binds.reduce((within, [name, value]) => `cel.bind(${name}, ${value}, ${within})`, inner),
      expression,
    )
  const l: [string, string] = ['l', 'dyn([l, l])']
  const m: [string, string] = ['m', 'dyn([m, m])']
  const rows: readonly (readonly [expression: string, why: RegExp])[] = [
    [`cel.bind(l, [1], ${repeated([['l', 'l + l']], 40, 'l.size() > 0')})`, /list exceeds 1000000 elements/],
    [`cel.bind(s, 'x'.replace('', '${'y'.repeat(5000)}'), s.replace('', s).size() > 0)`, /string exceeds 16777216/],
    [
      `cel.bind(l, dyn(1), cel.bind(m, dyn(1), ${repeated([l, m], 30, 'l == m')}))`,
      /comparison exceeds 1000000 values/,
    ],
    [`cel.bind(l, dyn(1), ${repeated([l], 30, `'%s'.format([l]) == ''`)})`, /formatting exceeds 100000 values/],
  ]
  for (const [expression, why] of rows) assert.throws(() => compile(expression, withBind).evaluate({}, costMax), why)
})

test('the time of functions that read text is linear in its length', () => {
  const long = 100_000
  const rows: readonly (readonly [call: string, text: string, expected: unknown])[] = [
    ['duration(text) == duration("1s")', `${'1'.repeat(67)}x`, undefined],
    ['duration(text) == duration("1s")', '1'.repeat(long), undefined],
    ['double(text) == 1.0', `${'1'.repeat(long)}x`, undefined],
    ['int(text) == 1', '1'.repeat(10 * long), undefined],
    [`text.trim() == 'a'`, `${' '.repeat(long)}a${' '.repeat(long)}`, true],
    [`text.trim().size() == ${long + 2}`, `a${' '.repeat(long)}b`, true],
    [`isURL(text)`, `https://${'a@'.repeat(long)}`, true],
    [`isSemver(text)`, `${'1'.repeat(10 * long)}.0.0`, false],
    [`url(text).getQuery()['a'].size() == ${long}`, `/?${'a&'.repeat(long)}`, true],
    [`url(text).getEscapedPath()`, '/%ff', '/%ff'],
  ]
  for (const [call, text, expected] of rows) {
    const program = compile(call, environment.with({ text: stringType }))
    const evaluate = () => program.evaluate({ text }, Number.MAX_SAFE_INTEGER)
    if (expected === undefined) assert.throws(evaluate, EvalError, call)
    else assert.equal(evaluate().value, expected, call)
  }
})

test('lists of mixed types are rejected', () => {
  assert.throws(() => compile(`[1, 'a']`, environment), /expected type 'int' but found 'string'/)
  assert.throws(() => compile(`authorizer.nothing`, environment), /does not support field selection/)
})
