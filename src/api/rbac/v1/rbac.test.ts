// Tables for roles and bindings.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { cellsOf, errorsOf, objectFrom, testInvalidObjects, updateErrorsOf } from '../../kind/kind.harness.ts'
import { clusterRoleBinding } from './cluster-role-binding.ts'
import { clusterRole } from './cluster-role.ts'
import { roleBinding } from './role-binding.ts'
import { role } from './role.ts'

const rbac = 'rbac.authorization.k8s.io'
const view = { apiGroup: rbac, kind: 'ClusterRole', name: 'view' }
const podReader = { verbs: ['get'], apiGroups: [''], resources: ['pods'] }
const urlReader = { verbs: ['get'], nonResourceURLs: ['/healthz'] }
const verbsMissing = 'Required value: verbs must contain at least one value'

testInvalidObjects(clusterRole, [
  ['no rules at all', {}, []],
  ['resources and URLs in separate rules', { rules: [podReader, urlReader] }, []],
  ['an empty verb', { rules: [{ ...podReader, verbs: [''] }] }, []],
  [
    'an empty rule',
    { rules: [{}] },
    [
      `rules[0].verbs: ${verbsMissing}`,
      'rules[0].apiGroups: Required value: resource rules must supply at least one api group',
      'rules[0].resources: Required value: resource rules must supply at least one resource',
    ],
  ],
  ['a URL without verbs', { rules: [{ ...urlReader, verbs: [] }] }, [`rules[0].verbs: ${verbsMissing}`]],
  [
    'resources and URLs in one rule',
    { rules: [{ ...urlReader, resources: ['pods'] }] },
    [
      'rules[0].nonResourceURLs: Invalid value: ["/healthz"]: rules cannot apply to both regular resources and non-resource URLs',
    ],
  ],
  [
    'an empty aggregation rule',
    { aggregationRule: {} },
    [
      'aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector required if aggregationRule is non-nil',
    ],
  ],
  [
    'an aggregation rule with an invalid selector',
    { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }, { matchLabels: { a: '!' } }] } },
    [
      /^aggregationRule\.clusterRoleSelectors\[1\]\.matchLabels: Invalid value: "!"/,
      'aggregationRule.clusterRoleSelectors[1]: Invalid value: {"matchLabels":{"a":"!"}}: invalid label selector.',
    ],
  ],
])

testInvalidObjects(role, [
  ['resources', { rules: [podReader] }, []],
  [
    'URLs, which have no namespace',
    { rules: [urlReader] },
    ['rules[0].nonResourceURLs: Invalid value: ["/healthz"]: namespaced rules cannot apply to non-resource URLs'],
  ],
])

testInvalidObjects(roleBinding, [
  ['a service account without a namespace', bound({ kind: 'ServiceAccount', name: 's' }), []],
  ['a user', bound({ kind: 'User', name: 'Jane Doe' }), []],
  [
    'no role',
    {},
    ['roleRef.kind: Unsupported value: "": supported values: "Role", "ClusterRole"', 'roleRef.name: Required value'],
  ],
  [
    'a role of another group, with a slash in its name',
    { roleRef: { apiGroup: 'x', kind: 'Role', name: 'a/b' } },
    [
      `roleRef.apiGroup: Unsupported value: "x": supported values: "${rbac}"`,
      `roleRef.name: Invalid value: "a/b": may not contain '/'`,
    ],
  ],
  [
    'an empty subject',
    bound({}),
    [
      'subjects[0].name: Required value',
      'subjects[0].kind: Unsupported value: "": supported values: "ServiceAccount", "User", "Group"',
    ],
  ],
  [
    'a service account with an invalid name',
    bound({ kind: 'ServiceAccount', name: 'Bad Value!', apiGroup: rbac }),
    [
      /^subjects\[0\]\.name: Invalid value: "Bad Value!": a lowercase RFC 1123 subdomain/,
      `subjects[0].apiGroup: Unsupported value: "${rbac}": supported values: ""`,
    ],
  ],
  [
    'a group with another API group',
    bound({ kind: 'Group', name: 'g', apiGroup: 'x' }),
    [`subjects[0].apiGroup: Unsupported value: "x": supported values: "${rbac}"`],
  ],
])

testInvalidObjects(clusterRoleBinding, [
  [
    'a role of one namespace',
    { roleRef: { kind: 'Role', name: 'r' } },
    ['roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"'],
  ],
  [
    'a service account without a namespace',
    bound({ kind: 'ServiceAccount', name: 's' }),
    ['subjects[0].namespace: Required value'],
  ],
])

function bound(subject: object): object {
  return { roleRef: view, subjects: [subject] }
}

test('names of roles and bindings only have to be path segments', () => {
  for (const kind of [role, roleBinding, clusterRole, clusterRoleBinding]) {
    deepEqual(kind.validateName('system:Any thing!'), [])
    deepEqual(kind.validateName('a/b'), ["may not contain '/'"])
  }
})

test('the group of roles, users and groups is that of RBAC unless another is given', () => {
  const binding = objectFrom(roleBinding, {
    roleRef: { kind: 'Role', name: 'r' },
    subjects: [
      { kind: 'User', name: 'u' },
      { kind: 'Group', name: 'g', apiGroup: 'x' },
      { kind: 'ServiceAccount', name: 's' },
    ],
  })
  equal(binding.roleRef.apiGroup, rbac)
  deepEqual(
    binding.subjects?.map(({ apiGroup }) => apiGroup),
    [rbac, 'x', undefined],
  )
})

test('the role of a binding is immutable', () => {
  const other = { ...view, name: 'edit' }
  deepEqual(updateErrorsOf(roleBinding, { roleRef: view }, { ...bound({ kind: 'User', name: 'u' }) }), [])
  deepEqual(updateErrorsOf(clusterRoleBinding, { roleRef: view }, { roleRef: other }), [
    `roleRef: Invalid value: {"apiGroup":"${rbac}","kind":"ClusterRole","name":"edit"}: cannot change roleRef`,
  ])
})

test('the cells of roles and bindings', () => {
  deepEqual(cellsOf(role, {}), ['x', '2030-01-01T00:00:00Z'])
  const subjects = [
    { kind: 'User', name: 'u' },
    { kind: 'User', name: 'v' },
    { kind: 'ServiceAccount', name: 's', namespace: 'n' },
  ]
  deepEqual(cellsOf(roleBinding, { roleRef: view, subjects }), ['x', 'ClusterRole/view', '60s', 'u, v', '', 'n/s'])
})

test('roles and bindings of a new cluster are accepted', () => {
  const selector = { matchLabels: { 'rbac.authorization.k8s.io/aggregate-to-admin': 'true' } }
  deepEqual(errorsOf(clusterRole, { rules: null, aggregationRule: { clusterRoleSelectors: [selector] } }), [])
  const everything = { verbs: ['*'], apiGroups: ['*'], resources: ['*'] }
  deepEqual(errorsOf(clusterRole, { rules: [everything, { verbs: ['*'], nonResourceURLs: ['*'] }] }), [])
  deepEqual(
    errorsOf(clusterRoleBinding, {
      subjects: [{ kind: 'Group', apiGroup: rbac, name: 'system:masters' }],
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'cluster-admin' },
    }),
    [],
  )
})
