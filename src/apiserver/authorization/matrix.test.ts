// A matrix of decisions on the default roles, compared with decisions that are derived here from upstream's recorded
// roles: by a naive evaluation of every binding and every rule, independent of the implementation.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { clusterRoleBinding } from '../../api/rbac/v1/cluster-role-binding.ts'
import { roleBinding } from '../../api/rbac/v1/role-binding.ts'
import { TestCaches } from '../watch-cache/caches.harness.ts'
import type { ObjectManifest } from '../bootstrap/bootstrap-object.ts'
import { userWithName, type User } from '../request/request.ts'
import { resourceAttributes } from './attributes.ts'
import { defaultRbacObjects } from './bootstrap-policy/default-rbac-objects.ts'
import { bootstrapRbacObjects } from './bootstrap-policy/bootstrap-rbac-objects.ts'
import { Rbac } from './rbac/rbac.ts'

interface Rule {
  verbs: string[]
  apiGroups?: string[]
  resources?: string[]
  resourceNames?: string[]
  nonResourceURLs?: string[]
}
interface Fact {
  kind: string
  metadata: { name: string; namespace?: string; labels?: Record<string, string> }
  rules?: Rule[] | null
  aggregationRule?: { clusterRoleSelectors: { matchLabels: Record<string, string> }[] }
  subjects?: { kind: string; name: string; namespace?: string }[]
  roleRef: { kind: string; name: string }
}

const facts = JSON.parse(readFileSync(new URL('../../../test/facts/bootstrap.json', import.meta.url), 'utf8')) as Fact[]

const bind = (kind: string, namespace: string, name: string, role: string, user: string): Fact => ({
  kind,
  metadata: namespace === '' ? { name } : { name, namespace },
  roleRef: { kind: 'ClusterRole', name: role },
  subjects: [{ kind: 'User', name: user }],
})

/** Users of a project, in addition to the system's own users. */
const project = [
  bind('RoleBinding', 'shop', 'viewers', 'view', 'vera'),
  bind('RoleBinding', 'shop', 'editors', 'edit', 'eddy'),
  bind('RoleBinding', 'shop', 'admins', 'admin', 'anna'),
  bind('ClusterRoleBinding', '', 'readers', 'view', 'rita'),
]
const all = [...facts, ...project]
const clusterRoles = facts.filter(({ kind }) => kind === 'ClusterRole')

function rulesOf(role: Fact): Rule[] {
  if (role.aggregationRule === undefined) return role.rules ?? []
  return role.aggregationRule.clusterRoleSelectors.flatMap(({ matchLabels }) =>
    clusterRoles
      .filter(({ metadata }) => Object.entries(matchLabels).every(([key, value]) => metadata.labels?.[key] === value))
      .flatMap(rulesOf),
  )
}

/** The naive evaluation, as the documentation of RBAC describes it. */
function naive(user: User, verb: string, group: string, resource: string, namespace: string, name: string): boolean {
  for (const binding of all) {
    const isEverywhere = binding.kind === 'ClusterRoleBinding'
    if (!isEverywhere && binding.kind !== 'RoleBinding') continue
    if (!isEverywhere && binding.metadata.namespace !== namespace) continue
    const isMeant = (binding.subjects ?? []).some((subject) => {
      if (subject.kind === 'User') return subject.name === user.name
      if (subject.kind === 'Group') return user.groups.some((each) => each === subject.name)
      return user.name === ['system', 'serviceaccount', subject.namespace, subject.name].join(':')
    })
    if (!isMeant) continue
    const role = all.find(
      (each) =>
        each.kind === binding.roleRef.kind &&
        each.metadata.name === binding.roleRef.name &&
        (each.kind === 'ClusterRole' || each.metadata.namespace === binding.metadata.namespace),
    )
    const rules = role === undefined ? [] : rulesOf(role)
    for (const rule of rules) {
      const [, subresource] = resource.split('/')
      if (!rule.verbs.includes(verb) && !rule.verbs.includes('*')) continue
      if (!rule.apiGroups?.includes(group) && !rule.apiGroups?.includes('*')) continue
      const byResource =
        rule.resources?.includes(resource) ||
        rule.resources?.includes('*') ||
        (subresource !== undefined && rule.resources?.includes(`*/${subresource}`))
      if (!byResource) continue
      if (rule.resourceNames !== undefined && !rule.resourceNames.includes(name)) continue
      return true
    }
  }
  return false
}

const everyone = (): User[] => {
  const names = new Map<string, User>()
  for (const { subjects = [] } of all)
    for (const subject of subjects) {
      const account = `system:serviceaccount:${subject.namespace}:${subject.name}`
      const user =
        subject.kind === 'Group'
          ? userWithName(`member of ${subject.name}`, [subject.name])
          : subject.kind === 'User'
            ? userWithName(subject.name, ['system:authenticated'])
            : userWithName(account, ['system:serviceaccounts', `system:serviceaccounts:${subject.namespace}`])
      names.set(user.name, user)
    }
  return [...names.values(), userWithName('stranger'), userWithName('system:node:a', ['system:nodes'])]
}

const verbs = ['get', 'list', 'create', 'update', 'patch', 'delete', 'impersonate']
const resources = [
  ['', 'pods'], ['', 'pods/log'], ['', 'pods/exec'], ['', 'pods/binding'], ['', 'pods/status'], ['', 'secrets'],
  ['', 'configmaps'], ['', 'nodes'], ['', 'nodes/proxy'], ['', 'namespaces'], ['', 'serviceaccounts/token'],
  ['', 'events'], ['', 'persistentvolumes'], ['', 'endpoints'], ['apps', 'deployments'], ['apps', 'deployments/scale'],
  ['apps', 'replicasets'], ['apps', 'statefulsets'], ['batch', 'jobs'], ['coordination.k8s.io', 'leases'],
  ['rbac.authorization.k8s.io', 'roles'], ['rbac.authorization.k8s.io', 'clusterroles'],
  ['certificates.k8s.io', 'certificatesigningrequests'], ['authorization.k8s.io', 'selfsubjectaccessreviews'],
  ['networking.k8s.io', 'networkpolicies'], ['storage.k8s.io', 'volumeattachments'], ['example.com', 'widgets'],
] as const // prettier-ignore
const namespaces = ['', 'shop', 'kube-system']
const namesOf = (resource: string) => (resource === 'leases' ? ['', 'kube-scheduler'] : [''])

function seeded(): Rbac {
  const caches = new TestCaches()
  const rbac = new Rbac(caches)
  for (const { kind, object } of bootstrapRbacObjects) caches.set(kind, object)
  for (const object of project)
    caches.set(object.kind === 'RoleBinding' ? roleBinding : clusterRoleBinding, object as unknown as ObjectManifest)
  return rbac
}

test('every user × verb × resource × namespace is decided according to the default roles', () => {
  const rbac = seeded()
  let decisions = 0
  let allowed = 0
  const wrong: string[] = []
  for (const user of everyone())
    for (const verb of verbs)
      for (const [group, what] of resources)
        for (const namespace of namespaces)
          for (const name of namesOf(what)) {
            const [resource = '', subresource = ''] = what.split('/')
            const asked = resourceAttributes(user, verb, { group, resource, subresource, namespace, name })
            const isAllowed = rbac.authorize(asked).kind === 'allowed'
            const expected = naive(user, verb, group, what, namespace, name)
            decisions++
            if (expected) allowed++
            if (isAllowed !== expected) wrong.push(`${user.name} ${verb} ${group}/${what} ${namespace}/${name}`)
          }
  deepEqual(wrong, [])
  ok(decisions > 30_000, `${decisions} decisions`)
  ok(allowed > 1_000 && allowed < decisions / 2, `${allowed} of ${decisions} are allowed: the matrix is significant`)
})

test('the default objects are those recorded, with aggregated roles', () => {
  const ours = Object.values(defaultRbacObjects).flat() as unknown as Fact[]
  const plain = (object: Fact) => {
    const { rules, subjects, ...rest } = object
    const isAggregated = object.aggregationRule !== undefined
    return { ...rest, ...(isAggregated || !rules ? {} : { rules }), ...(subjects ? { subjects } : {}) }
  }
  const byName = (a: Fact, b: Fact) => (key(a) < key(b) ? -1 : 1)
  const key = ({ kind, metadata }: Fact) => `${kind} ${metadata.namespace ?? ''} ${metadata.name}`
  const recorded = facts.filter(({ kind }) => /^(Cluster)?Role(Binding)?$/.test(kind))
  equal(ours.length, recorded.length)
  deepEqual(ours.toSorted(byName).map(plain), recorded.toSorted(byName).map(plain))
  const view = ours.find(({ kind, metadata }) => kind === 'ClusterRole' && metadata.name === 'view')
  deepEqual(view?.rules, clusterRoles.find(({ metadata }) => metadata.name === 'system:aggregate-to-view')?.rules)
})
