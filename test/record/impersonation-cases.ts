// The cases of the recording about impersonation: impersonated users × requests × grants.
import { matrixAccount } from '../../src/apiserver/authorization/access-matrix.harness.ts'
import type { ImpersonationCase, ImpersonationFacts } from '../../src/apiserver/filters/impersonation.harness.ts'

const container = { name: 'c', image: 'i' }

export const impersonationObjects: ImpersonationFacts['objects'] = [
  ['/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } }],
  ['/api/v1/namespaces/default/serviceaccounts', { metadata: { name: matrixAccount.name } }],
  ['/api/v1/nodes', { metadata: { name: 'n' } }],
  ['/api/v1/namespaces/default/pods', { metadata: { name: 'p' }, spec: { containers: [container] } }],
]

const authentication = 'authentication.k8s.io'
const rule = (verb: string, group: string, resource: string, ...resourceNames: string[]): object => ({
  verbs: [verb],
  apiGroups: [group],
  resources: [resource],
  ...(resourceNames.length === 0 ? {} : { resourceNames }),
})

interface Action {
  readonly request: { readonly method: string; readonly path: string; readonly body?: unknown }
  readonly on: (mode: string) => object
}

const review: Action = {
  request: { method: 'POST', path: `/apis/${authentication}/v1/selfsubjectreviews`, body: {} },
  on: (mode) => rule(`impersonate-on:${mode}:create`, authentication, 'selfsubjectreviews'),
}
const list: Action = {
  request: { method: 'GET', path: '/api/v1/namespaces/default/pods' },
  on: (mode) => rule(`impersonate-on:${mode}:list`, '', 'pods'),
}
const log: Action = {
  request: { method: 'GET', path: '/api/v1/namespaces/default/pods/p/log' },
  on: (mode) => rule(`impersonate-on:${mode}:get`, '', 'pods/log', 'p'),
}
const version: Action = {
  request: { method: 'GET', path: '/version' },
  on: (mode) => ({ verbs: [`impersonate-on:${mode}:get`], nonResourceURLs: ['/version'] }),
}
const actions = [review, list, log, version]

interface Target {
  readonly headers: Readonly<Record<string, string>>
  /** Rules about who may be impersonated, with the verb of this mode. */
  readonly identity: (verb: string, group: string) => readonly object[]
}

const user = (
  name: string,
  more: Target['headers'] = {},
  ...rules: [resource: string, ...names: string[]][]
): Target => ({
  headers: { 'impersonate-user': name, ...more },
  identity: (verb, group) => [
    rule(verb, group, 'users', name),
    ...rules.map(([resource, ...names]) =>
      rule(verb, resource === 'groups' ? group : authentication, resource, ...names),
    ),
  ],
})

const builder = 'system:serviceaccount:default:builder'
const account = (name: string, more: Target['headers'] = {}): Target => ({
  headers: { 'impersonate-user': `system:serviceaccount:default:${name}`, ...more },
  identity: (verb, group) => [rule(verb, group, 'serviceaccounts', name), rule(verb, group, 'groups')],
})
const node = (name: string, more: Target['headers'] = {}): Target => ({
  headers: { 'impersonate-user': `system:node:${name}`, ...more },
  identity: (verb, group) => [
    rule(verb, group, 'nodes', name),
    rule(verb, group, 'users'),
    rule(verb, group, 'groups'),
  ],
})

const targets: readonly (readonly [mode: string, target: Target])[] = [
  ['user-info', user('jane')],
  ['user-info', user('jane', { 'impersonate-group': 'dev' }, ['groups', 'dev'])],
  ['user-info', user('jane', { 'impersonate-group': 'dev' })],
  ['user-info', user('jane', { 'impersonate-uid': '7' }, ['uids', '7'])],
  ['user-info', user('jane', { 'impersonate-uid': '7' })],
  ['user-info', user('jane', { 'impersonate-extra-scopes': 'view' }, ['userextras/scopes', 'view'])],
  ['user-info', user('jane', { 'impersonate-extra-acme.io%2Fscopes': 'view' }, ['userextras/acme.io/scopes', 'view'])],
  ['user-info', user('jane', { 'impersonate-extra-acme.io%2Fscopes': 'view' })],
  ['user-info', user('jane', { 'impersonate-group': 'system:masters' }, ['groups', 'system:masters'])],
  ['user-info', user('jane', { 'impersonate-group': 'system:unauthenticated' }, ['groups'])],
  ['user-info', user('system:anonymous')],
  ['user-info', user('system:kube-scheduler')],
  ['user-info', user('system:serviceaccount:broken')],
  ['user-info', user('system:node:')],
  ['user-info', user(builder)],
  ['user-info', user('system:node:n')],
  ['serviceaccount', account('builder')],
  ['serviceaccount', account('builder', { 'impersonate-group': 'dev' })],
  ['serviceaccount', account('builder', { 'impersonate-uid': '7' })],
  ['arbitrary-node', node('n')],
  ['arbitrary-node', node('other')],
  ['arbitrary-node', node('n', { 'impersonate-group': 'system:nodes' })],
  ['associated-node', node('n')],
  ['associated-node', node('other')],
]

function* casesOf(mode: string, { headers, identity }: Target, isOnNode: boolean): Generator<ImpersonationCase> {
  const constrained = identity(`impersonate:${mode}`, authentication)
  const unnamed = constrained.map((each) => ({ ...each, resourceNames: [] }))
  const wrongGroup = identity(`impersonate:${mode}`, '')
  const legacy = identity('impersonate', '')
  for (const { request, on } of actions) {
    const grants = [[], [on(mode)], constrained, [on(mode), ...constrained], legacy]
    for (const rules of grants) yield { ...request, headers, isOnNode, rules }
  }
  yield { ...review.request, headers, isOnNode, rules: [review.on(mode), ...wrongGroup] }
  yield { ...review.request, headers, isOnNode, rules: [review.on(mode), ...unnamed] }
  yield { ...review.request, headers, isOnNode, rules: [...legacy, review.on(mode), ...constrained] }
  yield { ...review.request, headers, isOnNode, rules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }] }
}

/** Nodes are impersonated in two modes, and permissions of one are not valid in the other. */
function* mixed(): Generator<ImpersonationCase> {
  const arbitrary = 'arbitrary-node'
  const associated = 'associated-node'
  const { headers, identity } = node('n')
  for (const isOnNode of [false, true])
    for (const [action, who] of [
      [arbitrary, associated],
      [associated, arbitrary],
    ] as const)
      yield {
        ...review.request,
        headers,
        isOnNode,
        rules: [review.on(action), ...identity(`impersonate:${who}`, authentication)],
      }
}

const incomplete = [{ 'impersonate-group': 'dev' }, { 'impersonate-uid': '7' }, { 'impersonate-extra-scopes': 'view' }]

export const impersonationCases: readonly ImpersonationCase[] = [
  ...targets.flatMap(([mode, target]) => [
    ...casesOf(mode, target, false),
    ...(mode.endsWith('node') ? casesOf(mode, target, true) : []),
  ]),
  ...mixed(),
  ...incomplete.map((headers) => ({ ...review.request, headers, isOnNode: false, rules: [] })),
]
