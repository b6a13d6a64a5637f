// ABAC as in kube-apiserver v1.36.4: each row is its response with the policies below.
import { deepEqual, equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { userWithName } from '../../request/request.ts'
import { abac } from './abac.ts'
import { resourceAttributes, type AccessAttributes } from '../attributes.ts'
import type { Decision } from '../authorizer.ts'

const { signal } = new AbortController()
const policy = (spec: object): string =>
  JSON.stringify({ apiVersion: 'abac.authorization.kubernetes.io/v1beta1', kind: 'Policy', spec })

const file = [
  '# a comment',
  '  # an indented comment',
  '',
  policy({ user: 'alice', namespace: '*', resource: '*', apiGroup: '*' }),
  policy({ user: 'bob', namespace: 'shop', resource: 'pods', readonly: true }),
  policy({ group: 'ops', namespace: 'a', resource: 'secrets' }),
  policy({ user: 'carol', group: 'dev', namespace: '*', resource: 'pods' }),
  policy({ user: '*', namespace: 'everyone', resource: 'pods' }),
  policy({ group: '*', namespace: 'everygroup', resource: 'pods' }),
  policy({ namespace: 'nowhere', resource: 'pods' }),
  policy({ user: 'dan', nonResourcePath: '/a/*' }),
  policy({ user: 'dan', nonResourcePath: '/b**' }),
  policy({ user: 'dan', nonResourcePath: '/exact' }),
  policy({ user: 'erin', readonly: true, nonResourcePath: '*' }),
  policy({ user: 'fay', namespace: '', resource: 'nodes' }),
  policy({ user: 'gus', namespace: 'x', resource: 'pods', apiGroup: 'apps' }),
  policy({ user: 'hal', namespace: '*', resource: '*', apiGroup: '*', nonResourcePath: '*' }),
  policy({ user: '*', group: 'dev', namespace: 'both', resource: 'pods' }),
  policy({ user: 'kim', group: '*', namespace: 'kim', resource: 'pods' }),
  policy({ user: 'ida', nonResourcePath: '' }),
  // The format before v1beta1.
  '{"user":"v0user"}',
  '{"user":"v0ro","readonly":true,"resource":"pods","namespace":"n"}',
  '{"group":"v0g"}',
  '{"readonly":true,"resource":"events"}',
  '{"user":"v0ns","namespace":"n"}',
].join('\n')

type Asked = (user: string, groups: readonly string[]) => AccessAttributes
const on =
  (verb: string, resource: string, namespace = '', group = '', subresource = ''): Asked =>
  (user, groups) =>
    resourceAttributes(userWithName(user, [...groups]), verb, { resource, namespace, group, subresource })
const path =
  (verb: string, text: string): Asked =>
  (user, groups) => ({ kind: 'path', user: userWithName(user, [...groups]), verb, path: text })

const answers: readonly [user: string, groups: readonly string[], asked: Asked, isAllowed: boolean][] = [
  ['alice', [], on('delete', 'deployments', 'x', 'apps'), true],
  ['alice', [], on('get', 'nodes'), true],
  ['alice', [], path('get', '/version'), false],
  ['bob', [], on('get', 'pods', 'shop'), true],
  ['bob', [], on('list', 'pods', 'shop'), true],
  ['bob', [], on('watch', 'pods', 'shop'), true],
  ['bob', [], on('get', 'pods', 'shop', '', 'log'), true],
  ['bob', [], on('create', 'pods', 'shop'), false],
  ['bob', [], on('get', 'pods', 'other'), false],
  ['bob', [], on('get', 'pods'), false],
  ['x', ['ops'], on('get', 'secrets', 'a'), true],
  ['x', ['ops'], on('get', 'secrets', 'b'), false],
  ['carol', [], on('get', 'pods', 'a'), false],
  ['carol', ['dev'], on('get', 'pods', 'a'), true],
  ['x', ['dev'], on('get', 'pods', 'a'), false],
  ['x', [], on('get', 'pods', 'everyone'), false],
  ['x', ['system:authenticated'], on('get', 'pods', 'everyone'), true],
  ['system:anonymous', ['system:unauthenticated'], on('get', 'pods', 'everyone'), false],
  ['x', [], on('get', 'pods', 'everygroup'), false],
  ['x', ['system:authenticated'], on('get', 'pods', 'everygroup'), true],
  ['x', ['q'], on('get', 'pods', 'everygroup'), false],
  ['system:anonymous', ['system:unauthenticated'], on('get', 'pods', 'everygroup'), false],
  ['x', ['system:authenticated'], on('get', 'pods', 'nowhere'), false],
  ['dan', [], path('get', '/a/b'), true],
  ['dan', [], path('get', '/a'), false],
  ['dan', [], path('get', '/bcd'), true],
  ['dan', [], path('post', '/exact'), true],
  ['dan', [], path('get', '/exact/x'), false],
  ['erin', [], path('get', '/anything'), true],
  ['erin', [], path('post', '/anything'), false],
  ['erin', [], path('head', '/x'), false],
  ['erin', [], on('get', 'pods', 'a'), false],
  ['fay', [], on('get', 'nodes'), true],
  ['fay', [], on('get', 'nodes', 'a'), false],
  ['gus', [], on('get', 'pods', 'x', 'apps'), true],
  ['gus', [], on('get', 'pods', 'x'), false],
  ['hal', [], path('post', '/x'), true],
  ['hal', [], on('impersonate', 'users'), true],
  ['x', ['dev'], on('get', 'pods', 'both'), false],
  ['x', ['dev', 'system:authenticated'], on('get', 'pods', 'both'), true],
  ['ida', [], path('get', ''), true],
  ['ida', [], on('get', 'pods'), false],
  ['ida', [], on('get', ''), true],
  ['v0user', [], on('delete', 'x', 'y', 'z'), true],
  ['v0user', ['system:authenticated'], on('delete', 'x', 'y', 'z'), true],
  ['v0user', [], path('get', '/x'), true],
  ['v0ro', [], on('get', 'pods', 'n'), true],
  ['v0ro', [], on('create', 'pods', 'n'), false],
  ['v0ro', [], on('get', 'pods', 'm'), false],
  ['v0ro', [], path('get', '/q'), false],
  ['q', ['v0g'], on('delete', 'x', 'y', 'z'), true],
  ['q', [], on('get', 'events', 'y'), false],
  ['q', ['system:authenticated'], on('get', 'events', 'y'), true],
  ['system:anonymous', ['system:unauthenticated'], on('get', 'events', 'y'), false],
  // A * in one of the two means every authenticated user, whatever the other contains.
  ['x', ['system:authenticated'], on('get', 'pods', 'both'), true],
  ['x', ['system:authenticated'], on('get', 'pods', 'kim'), true],
  ['kim', [], on('get', 'pods', 'kim'), false],
  ['v0ns', [], on('get', 'any', 'n'), true],
  ['v0ns', [], path('get', '/x'), false],
]

test('each policy allows exactly what it allows upstream', () => {
  const authorizer = abac(file)
  for (const [user, groups, asked, isAllowed] of answers) {
    const attributes = asked(user, groups)
    const { kind } = authorizer.authorize(attributes, signal) as Decision
    equal(kind, isAllowed ? 'allowed' : 'noOpinion', JSON.stringify(attributes))
  }
})

test('the rules of a user are those for the namespace', () => {
  const rulesOf = (user: string, namespace: string) => abac(file).rulesFor(userWithName(user), namespace).rules
  const verbs = ['get', 'list', 'watch']
  deepEqual(rulesOf('bob', 'shop'), [{ verbs, apiGroups: [''], resources: ['pods'] }])
  deepEqual(rulesOf('bob', 'other'), [])
  deepEqual(rulesOf('dan', 'x'), [])
  deepEqual(rulesOf('hal', 'x'), [
    { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
    { verbs: ['*'], nonResourceURLs: ['*'] },
  ])
})

const refusals: readonly [line: string, why: RegExp][] = [
  ['not JSON', /^Error: line 2 of the ABAC policy file: /],
  ['[]', /it is not an object/],
  ['{"apiVersion":"v1","kind":"Policy","spec":{}}', /it is no Policy of abac/],
  [policy({ user: 'a', readonly: 'true' }), /readonly must be true or false/],
  [policy({ user: 'a', namespace: 5 }), /namespace must be a string/],
  [policy({ user: ['a'] }), /user must be a string/],
]
for (const [line, why] of refusals)
  test(`a policy file is refused with the line ${line}`, () => {
    throws(() => abac(`# first\n${line}`), why)
  })
