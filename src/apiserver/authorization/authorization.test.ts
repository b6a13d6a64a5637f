// Authorization through the server: the messages of rejections, and protection against privilege escalation.
import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { pod } from '../../api/core/v1/pod/pod.ts'
import { clusterRoleBinding } from '../../api/rbac/v1/cluster-role-binding.ts'
import { flowEventsPath } from '../../api/coxswain/v1/flow-protocol.ts'
import { clusterRole } from '../../api/rbac/v1/cluster-role.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import { TestCaches } from '../watch-cache/caches.harness.ts'
import { userWithName } from '../request/request.ts'
import { attributesOf, resourceAttributes } from './attributes.ts'
import { alwaysAllow, alwaysDeny, authorizerChain, denied, noOpinion, noRules, privileged } from './authorizer.ts'
import { bootstrapRbacObjects, updatedBinding, updatedRole } from './bootstrap-policy/bootstrap-rbac-objects.ts'
import { group, on } from './bootstrap-policy/role-builders.ts'
import { startGuarded } from '../server-policies.harness.ts'
import { Rbac } from './rbac/rbac.ts'
import { RuleTable } from './rbac/rule-table.ts'

const roles = '/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles'
const roleBindings = '/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings'
const clusterRoles = '/apis/rbac.authorization.k8s.io/v1/clusterroles'
const clusterRoleBindings = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings'
const bob = { as: 'bob,dev' }
const apiGroup = 'rbac.authorization.k8s.io'

const bindingOf = (name: string, role: string, user = 'bob', kind = 'ClusterRole') => ({
  metadata: { name },
  roleRef: { apiGroup, kind, name: role },
  subjects: [{ kind: 'User', apiGroup, name: user }],
})

const refusals: [why: string, method: string, target: string, message: string][] = [
  [
    'a list in a namespace',
    'GET',
    '/api/v1/namespaces/default/pods',
    'pods is forbidden: User "bob" cannot list resource "pods" in API group "" in the namespace "default"',
  ],
  [
    'one object of a group',
    'GET',
    '/apis/apps/v1/namespaces/default/deployments/web',
    'deployments.apps "web" is forbidden: User "bob" cannot get resource "deployments" in API group "apps" in the namespace "default"',
  ],
  [
    'a subresource',
    'GET',
    '/api/v1/namespaces/default/pods/p/status',
    'pods "p" is forbidden: User "bob" cannot get resource "pods/status" in API group "" in the namespace "default"',
  ],
  [
    'the whole cluster',
    'GET',
    '/api/v1/nodes?watch=1',
    'nodes is forbidden: User "bob" cannot watch resource "nodes" in API group "" at the cluster scope',
  ],
  [
    'a namespace, which is in its own namespace',
    'GET',
    '/api/v1/namespaces/default',
    'namespaces "default" is forbidden: User "bob" cannot get resource "namespaces" in API group "" in the namespace "default"',
  ],
  [
    'a list with a field selector for one name',
    'GET',
    '/api/v1/namespaces/default/pods?fieldSelector=metadata.name%3Dp',
    'pods "p" is forbidden: User "bob" cannot list resource "pods" in API group "" in the namespace "default"',
  ],
  ['a path', 'GET', '/metrics', 'forbidden: User "bob" cannot get path "/metrics"'],
]

test('a rejection has the message that users of kubectl know', async () => {
  await using server = await startGuarded()
  for (const [why, method, target, message] of refusals) {
    const { status, body } = await server.call(method, target, undefined, bob)
    deepEqual([status, body.reason, body.message], [403, 'Forbidden', message], why)
  }
})

test('only health and version are readable without credentials', async () => {
  await using server = await startGuarded()
  const status = async (path: string) => (await server.call('GET', path, undefined, { anonymous: 'x' })).status
  for (const path of ['/healthz', '/livez', '/readyz', '/version']) equal(await status(path), 200, path)
  for (const path of ['/', '/api', '/apis', '/openapi/v3', '/metrics', '/api/v1/nodes', flowEventsPath])
    equal(await status(path), 403, path)
  equal(
    (await server.call('GET', '/api', undefined, { anonymous: 'x' })).body.message,
    'forbidden: User "system:anonymous" cannot get path "/api"',
  )
})

test('changes of roles and bindings take effect at once', async () => {
  await using server = await startGuarded()
  const pods = () => server.call('GET', '/api/v1/namespaces/default/pods', undefined, bob)
  await server.call('POST', roleBindings, bindingOf('b', 'missing'))
  equal((await pods()).status, 403)
  match((await pods()).body.message, /: RBAC: clusterrole\.rbac\.authorization\.k8s\.io "missing" not found$/)
  const rules = [on('list', 'core', 'pods')]
  await server.call('POST', clusterRoles, { metadata: { name: 'missing' }, rules })
  equal((await pods()).status, 200)
  equal((await server.call('GET', '/api/v1/namespaces/other/pods', undefined, bob)).status, 403)
  await server.call(
    'PATCH',
    `${clusterRoles}/missing`,
    { rules: null },
    { 'content-type': 'application/merge-patch+json' },
  )
  equal((await pods()).status, 403)
  await server.call('PUT', `${clusterRoles}/missing`, { metadata: { name: 'missing' }, rules })
  equal((await pods()).status, 200)
  await server.call('DELETE', `${roleBindings}/b`)
  equal((await pods()).status, 403)
})

test('the record of a call names the rule that allowed it', async () => {
  await using server = await startGuarded()
  await server.call('POST', roleBindings, bindingOf('readers', 'view'))
  await server.call('GET', '/api/v1/namespaces/default/pods', undefined, bob)
  const calls = [...server.flow.events()].filter(({ arrow }) => arrow === 'call')
  equal(calls.at(-1)?.allowedBy, 'RBAC: allowed by RoleBinding "readers/default" of ClusterRole "view" to User "bob"')
})

test('users cannot grant permissions that they do not have', async () => {
  await using server = await startGuarded()
  await server.call('POST', clusterRoles, {
    metadata: { name: 'role-writer' },
    rules: [on('create update patch', apiGroup, 'roles rolebindings clusterroles'), on('get list', 'core', 'pods')],
  })
  await server.call('POST', clusterRoleBindings, bindingOf('bob', 'role-writer'))
  const role = (rules: object[]) => ({ metadata: { name: 'r' }, rules })
  const rules = [on('get delete', 'core', 'pods secrets')]
  const refused = await server.call('POST', roles, role(rules), bob)
  equal(refused.status, 403)
  equal(
    refused.body.message,
    `roles.rbac.authorization.k8s.io "r" is forbidden: user "bob" (groups=["dev" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:
{APIGroups:[""], Resources:["pods"], Verbs:["delete"]}
{APIGroups:[""], Resources:["secrets"], Verbs:["get" "delete"]}`,
  )
  equal((await server.call('POST', roles, role([on('get', 'core', 'pods', 'one')]), bob)).status, 201)
  const bind = (name: string) => server.call('POST', roleBindings, bindingOf(name, name, 'eve'), bob)
  match(
    (await bind('edit')).body.message,
    /^rolebindings\.rbac\.authorization\.k8s\.io "edit" is forbidden: user "bob"/,
  )
  equal((await bind('absent')).body.message, 'clusterroles.rbac.authorization.k8s.io "absent" not found')
  equal((await bind('role-writer')).status, 201)
  const gathering = {
    metadata: { name: 'g' },
    aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] },
  }
  match(
    (await server.call('POST', clusterRoles, gathering, bob)).body.message,
    /\{NonResourceURLs:\["\*"\], Verbs:\["\*"\]\}/,
  )
  await server.call('POST', clusterRoles, {
    metadata: { name: 'bypass' },
    rules: [on('escalate', apiGroup, 'roles'), on('bind', apiGroup, 'clusterroles', 'edit')],
  })
  await server.call('POST', clusterRoleBindings, bindingOf('bypass', 'bypass'))
  equal((await server.call('PUT', `${roles}/r`, role(rules), bob)).status, 200)
  equal((await bind('edit')).status, 201)
})

test('the chain stops at the first decision, also when an authorizer is asynchronous', async () => {
  const asked = resourceAttributes(userWithName('a'), 'get', { resource: 'pods' })
  const slow = { name: 'slow', authorize: () => Promise.resolve(noOpinion('slow has none')), rulesFor: () => noRules }
  const no = { name: 'no', authorize: () => denied('no'), rulesFor: () => noRules }
  const { signal } = new AbortController()
  const decide = async (...authorizers: Parameters<typeof authorizerChain>[0]) => {
    const decision = await authorizerChain(authorizers).authorize(asked, signal)
    return [decision.kind, decision.reason()]
  }
  deepEqual(await decide(alwaysDeny, alwaysAllow), ['allowed', ''])
  deepEqual(await decide(slow, no, alwaysAllow), ['denied', 'no'])
  deepEqual(await decide(alwaysDeny, slow), ['noOpinion', 'Everything is forbidden.\nslow has none'])
  equal(
    (await authorizerChain([privileged]).authorize({ ...asked, user: userWithName('a', ['system:masters']) }, signal))
      .kind,
    'allowed',
  )
})

test('a selector that cannot be parsed restricts nothing', () => {
  const target = {
    kind: 'resource',
    verb: 'list',
    resource: clusterRole,
    subresource: '',
    namespace: '',
    name: '',
  } as const
  const query = new URLSearchParams({ fieldSelector: '???', labelSelector: 'a=b' })
  const asked = attributesOf(userWithName('a'), { target, query })
  deepEqual(asked.kind === 'resource' && [asked.fields, asked.labels?.length, asked.name], [undefined, 1, ''])
})

test('selectors are parsed once, and only for users who may list something', () => {
  const target = { kind: 'resource', verb: 'list', resource: pod, subresource: '', namespace: 'x', name: '' } as const
  const caches = new TestCaches()
  const rbac = new Rbac(caches)
  const metadata = { name: 'r' }
  const rules = [on('list', 'core', 'pods', 'web')]
  caches.set(clusterRole, { apiVersion: '', kind: 'ClusterRole', metadata, rules } as never)
  caches.set(clusterRoleBinding, { apiVersion: '', kind: 'ClusterRoleBinding', ...bindingOf('r', 'r') })
  const decided = (user: string, fieldSelector: string) => {
    const query = new URLSearchParams({ fieldSelector, labelSelector: 'a' })
    const read: string[] = []
    query.get = (name) => {
      read.push(name)
      return URLSearchParams.prototype.get.call(query, name)
    }
    return [rbac.authorize(attributesOf(userWithName(user), { target, query })).kind, read]
  }
  deepEqual(decided('stranger', 'metadata.name=web'), ['noOpinion', []])
  deepEqual(decided('bob', 'metadata.name=web'), ['allowed', ['fieldSelector']])
  deepEqual(decided('bob', 'metadata.name=api'), ['noOpinion', ['fieldSelector']])
})

test('a thousand roles of one subject are evaluated as one', () => {
  const caches = new TestCaches()
  const rbac = new Rbac(caches)
  for (let index = 0; index < 1000; index++) {
    const metadata = { name: `r${index}` }
    caches.set(clusterRole, {
      apiVersion: '',
      kind: 'ClusterRole',
      metadata,
      rules: [on('get', 'core', 'secrets', `s${index}`)],
    } as never)
    caches.set(clusterRoleBinding, {
      apiVersion: '',
      kind: 'ClusterRoleBinding',
      ...bindingOf(`r${index}`, `r${index}`),
    })
  }
  const asks = (name: string) =>
    rbac.authorize(resourceAttributes(userWithName('bob'), 'get', { resource: 'secrets', namespace: 'x', name }))
  equal(asks('s999').reason(), 'RBAC: allowed by ClusterRoleBinding "r999" of ClusterRole "r999" to User "bob"')
  equal(asks('s1000').kind, 'noOpinion')
  caches.remove(clusterRole, '', 'r999')
  equal(asks('s999').kind, 'noOpinion')
  caches.remove(clusterRoleBinding, '', 'r998')
  equal(asks('s998').kind, 'noOpinion')
  equal(asks('s997').kind, 'allowed')
})

test('a path may end in a wildcard, and */subresource matches any resource', () => {
  const table = new RuleTable([on('get', '*', '*/scale'), { verbs: ['get'], nonResourceURLs: ['/api/*', '/exact'] }])
  const path = (text: string) => table.allows({ kind: 'path', user: userWithName('a'), verb: 'get', path: text })
  deepEqual(['/api/v1', '/api', '/exact', '/exact/more'].map(path), [true, false, true, false])
  const resource = (subresource: string) =>
    table.allows(resourceAttributes(userWithName('a'), 'get', { group: 'apps', resource: 'deployments', subresource }))
  deepEqual(['scale', 'status', ''].map(resource), [true, false, false])
})

test('a default object is restored and retains additions, unless it is annotated', () => {
  const made = (object: object) =>
    ({ apiVersion: '', kind: '', metadata: { name: 'x', labels: { own: '1' } }, ...object }) as unknown as ApiObject
  const wanted = { ...made({ rules: [on('get list', 'core', 'pods')] }), aggregationRule: undefined } as never
  const current = made({ rules: [on('get', 'core', 'pods'), on('get', 'core', 'secrets')] }) as never
  deepEqual((updatedRole(current, wanted) as { rules: unknown }).rules, [
    on('get', 'core', 'pods'),
    on('get', 'core', 'secrets'),
    on('list', 'core', 'pods'),
  ])
  const binding = made({ subjects: [group('a')], roleRef: { name: 'r' } }) as never
  const wantedBinding = made({ subjects: [group('a'), group('b')], roleRef: { name: 'r' } }) as never
  deepEqual((updatedBinding(binding, wantedBinding) as { subjects: unknown }).subjects, [group('a'), group('b')])
  const view = bootstrapRbacObjects.find(({ object }) => object.metadata.name === 'system:basic-user')
  const stripped = (annotations: object) =>
    ({ ...view?.object, metadata: { name: 'system:basic-user', annotations }, rules: [] }) as never
  equal(view?.update?.(stripped({ 'rbac.authorization.kubernetes.io/autoupdate': 'false' })), undefined)
  equal((view?.update?.(stripped({})) as { rules?: object[] } | undefined)?.rules?.length, 3)
  equal(view?.update?.(view.object as never), undefined)
})

test('access reviews work for other users and for the sender, and list the rules', async () => {
  await using server = await startGuarded()
  await server.call('POST', roleBindings, bindingOf('readers', 'view'))
  const api = '/apis/authorization.k8s.io/v1'
  const review = async (path: string, spec: object, headers?: Record<string, string>) => {
    const { status, body } = await server.call('POST', `${api}/${path}`, { spec }, headers)
    return status === 201 ? body.status : [status, body.message]
  }
  const attributes = { verb: 'list', resource: 'pods', namespace: 'default' }
  const reason = 'RBAC: allowed by RoleBinding "readers/default" of ClusterRole "view" to User "bob"'
  deepEqual(await review('subjectaccessreviews', { user: 'bob', resourceAttributes: attributes }), {
    allowed: true,
    reason,
  })
  deepEqual(await review('selfsubjectaccessreviews', { resourceAttributes: attributes }, bob), {
    allowed: true,
    reason,
  })
  const elsewhere = { ...attributes, namespace: 'other' }
  deepEqual(await review('selfsubjectaccessreviews', { resourceAttributes: elsewhere }, bob), { allowed: false })
  const path = { nonResourceAttributes: { verb: 'get', path: '/api' } }
  equal((await review('selfsubjectaccessreviews', path, bob)).allowed, true)
  const local = 'namespaces/default/localsubjectaccessreviews'
  const nowhere = { user: 'bob', resourceAttributes: { ...attributes, namespace: 'gone' } }
  const result = await review('namespaces/gone/localsubjectaccessreviews', nowhere)
  deepEqual(result, { allowed: false }, 'the response does not reveal that the namespace is missing')
  deepEqual(await review(local, { user: 'bob', resourceAttributes: attributes }), { allowed: true, reason })
  deepEqual(await review(local, { user: 'bob', resourceAttributes: elsewhere }), [
    400,
    'spec.resourceAttributes.namespace must match namespace: default',
  ])
  match(
    String((await review('subjectaccessreviews', { resourceAttributes: attributes }))[1]),
    /at least one of user or group must be specified$/,
  )
  match(
    String((await review('selfsubjectaccessreviews', {}))[1]),
    /exactly one of nonResourceAttributes or resourceAttributes must be specified$/,
  )
  match(
    String((await review('subjectaccessreviews', { user: 'a', resourceAttributes: attributes }, bob))[1]),
    /^subjectaccessreviews\.authorization\.k8s\.io is forbidden: User "bob"/,
  )
  const rules = await review('selfsubjectrulesreviews', { namespace: 'default' }, bob)
  equal(rules.incomplete, false)
  deepEqual(
    rules.resourceRules[0],
    on('create', 'authorization.k8s.io', 'selfsubjectaccessreviews selfsubjectrulesreviews'),
  )
  deepEqual(await review('selfsubjectrulesreviews', {}, bob), [400, 'no namespace on request'])
})
