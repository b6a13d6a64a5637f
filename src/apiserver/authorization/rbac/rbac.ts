// Rbac: authorizes by roles and bindings. It is updated by the changes of the watch caches. A decision looks up only the
// grants of the user and its groups, so its cost does not depend on the number of bindings.
import { getOrInsert } from '../../../base/collections/get-or-insert.ts'
import { clusterRoleBinding } from '../../../api/rbac/v1/cluster-role-binding.ts'
import { clusterRole } from '../../../api/rbac/v1/cluster-role.ts'
import { roleBinding } from '../../../api/rbac/v1/role-binding.ts'
import { role } from '../../../api/rbac/v1/role.ts'
import type { PolicyRule, Subject } from '../../../api/rbac/v1/policy-rule.ts'
import { keyOf, namespaceOf, type ApiObject } from '../../../api/meta/object.ts'
import type { User } from '../../request/request.ts'
import { serviceAccountUser } from '../../request/user-names.ts'
import type { AccessAttributes } from '../attributes.ts'
import type { Authorizer, Decision, ResolvedRules } from '../authorizer.ts'
import { Grants, grantOf, scopeOf, type Binding, type Grant, type RoleEntry } from './grants.ts'
import { RuleTable } from './rule-table.ts'
import type { ObjectCaches } from '../../watch-cache/object-caches.ts'

const everywhere = ''

/** The grants of a subject by namespace; empty for the cluster. */
type Scopes = Map<string, Grants>

export class Rbac implements Authorizer {
  readonly name = 'RBAC'
  readonly #roles = new Map<string, RoleEntry>()
  /** By name, then by scope. */
  readonly #users = new Map<string, Scopes>()
  readonly #groups = new Map<string, Scopes>()
  readonly #bindings = new Map<string, readonly Grant[]>()
  #rolesVersion = 0

  constructor(caches: ObjectCaches) {
    for (const kind of [role, clusterRole])
      caches.observe(kind, {
        changed: (now, before) => (now === undefined ? this.#dropRole(before) : this.#setRole(now)),
      })
    for (const kind of [roleBinding, clusterRoleBinding])
      caches.observe(kind, {
        changed: (now, before) => {
          if (before !== undefined) this.#dropBinding(before as Binding)
          if (now !== undefined) this.#setBinding(now as Binding)
        },
      })
  }

  authorize(attributes: AccessAttributes): Decision {
    const { user } = attributes
    const namespace = attributes.kind === 'path' ? everywhere : attributes.namespace
    const found =
      this.#decide(attributes, everywhere) ??
      (namespace === everywhere ? undefined : this.#decide(attributes, namespace))
    if (found !== undefined) return found
    return { kind: 'noOpinion', reason: () => this.#missingRoles(user, namespace) }
  }

  rulesFor(user: User, namespace: string): ResolvedRules {
    return { rules: this.rulesOf(user, namespace), incomplete: false, errors: this.missingRolesOf(user, namespace) }
  }

  /** All rules of the user in the namespace, including those of the cluster. */
  rulesOf(user: User, namespace: string): PolicyRule[] {
    const cells = this.#grantsOf(user, namespace).flatMap((grants) => [...grants.roles])
    return [...new Set(cells)].flatMap(({ table }) => [...(table?.rules ?? [])])
  }

  /** The roles that are bound to the user but do not exist. */
  missingRolesOf(user: User, namespace: string): string[] {
    const cells = new Set(this.#grantsOf(user, namespace).flatMap((grants) => [...grants.roles]))
    return [...cells].filter(({ table }) => table === undefined).map(missingText)
  }

  #missingRoles(user: User, namespace: string): string {
    const texts = this.missingRolesOf(user, namespace)
    if (texts.length === 0) return ''
    return `RBAC: ${texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`}`
  }

  #decide(attributes: AccessAttributes, scope: string): Decision | undefined {
    const { name, groups } = attributes.user
    const own = this.#users.get(name)?.get(scope)?.decide(attributes, this.#rolesVersion)
    if (own !== undefined) return own
    for (const group of groups) {
      const decision = this.#groups.get(group)?.get(scope)?.decide(attributes, this.#rolesVersion)
      if (decision !== undefined) return decision
    }
    return undefined
  }

  #grantsOf({ name, groups }: User, namespace: string): Grants[] {
    const subjects = [this.#users.get(name), ...groups.map((group) => this.#groups.get(group))]
    const scopes = namespace === everywhere ? [everywhere] : [everywhere, namespace]
    return scopes.flatMap((scope) => subjects.flatMap((subject) => subject?.get(scope) ?? []))
  }

  #setRole(object: ApiObject): void {
    const { rules } = object as { rules?: readonly PolicyRule[] | null }
    this.#roleEntry(namespaceOf(object), object.metadata.name).table = new RuleTable(rules ?? [])
    this.#rolesVersion++
  }

  #dropRole(object: ApiObject | undefined): void {
    const cell = object && this.#roles.get(keyOf(object))
    if (cell === undefined) return
    cell.table = undefined
    this.#rolesVersion++
    this.#dropUnused(cell)
  }

  #setBinding(binding: Binding): void {
    const scope = scopeOf(binding)
    const { kind, name } = binding.roleRef
    const cell = this.#roleEntry(kind === 'Role' ? scope : everywhere, name)
    const grants = (binding.subjects ?? []).map((subject) => {
      const grant = grantOf(binding, subject, cell)
      cell.uses++
      const scopes = getOrInsert(this.#subjectsOfKind(subject), subjectName(subject, scope), () => new Map())
      getOrInsert(scopes, scope, () => new Grants()).add(grant)
      return grant
    })
    this.#bindings.set(bindingKey(binding), grants)
    this.#dropUnused(cell)
  }

  #dropBinding(binding: Binding): void {
    const key = bindingKey(binding)
    const grants = this.#bindings.get(key) ?? []
    this.#bindings.delete(key)
    const scope = scopeOf(binding)
    for (const [index, subject] of (binding.subjects ?? []).entries()) {
      const grant = grants[index]
      const subjects = this.#subjectsOfKind(subject)
      const name = subjectName(subject, scope)
      const scopes = subjects.get(name)
      const held = scopes?.get(scope)
      if (grant === undefined || scopes === undefined || held === undefined) continue
      held.remove(grant)
      if (held.isEmpty) scopes.delete(scope)
      if (scopes.size === 0) subjects.delete(name)
      grant.role.uses--
      this.#dropUnused(grant.role)
    }
  }

  #subjectsOfKind({ kind }: Subject): Map<string, Scopes> {
    return kind === 'Group' ? this.#groups : this.#users
  }

  #roleEntry(namespace: string, name: string): RoleEntry {
    return getOrInsert(this.#roles, roleKey(namespace, name), () => ({ namespace, name, table: undefined, uses: 0 }))
  }

  #dropUnused({ namespace, name, table, uses }: RoleEntry): void {
    if (table === undefined && uses === 0) this.#roles.delete(roleKey(namespace, name))
  }
}

const roleKey = (namespace: string, name: string): string => (namespace === '' ? name : `${namespace}/${name}`)
const bindingKey = (binding: Binding): string => `${binding.kind} ${keyOf(binding)}`

/** The user name of a subject; that of a ServiceAccount includes its namespace. */
const subjectName = ({ kind, name, namespace }: Subject, scope: string): string =>
  kind === 'ServiceAccount' ? serviceAccountUser(namespace ?? scope, name) : name

const missingText = ({ namespace, name }: RoleEntry): string =>
  `${namespace === '' ? 'clusterrole' : 'role'}.rbac.authorization.k8s.io ${JSON.stringify(name)} not found`
