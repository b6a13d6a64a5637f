// Grants: the roles of one subject in one scope (a namespace or the cluster), each with its binding. A role is a shared
// mutable entry, so a changed role needs no update here.
import { getOrInsert } from '../../../base/collections/get-or-insert.ts'
import type { ClusterRoleBinding } from '../../../api/rbac/v1/cluster-role-binding.ts'
import type { RoleBinding } from '../../../api/rbac/v1/role-binding.ts'
import type { Subject } from '../../../api/rbac/v1/policy-rule.ts'
import { namespaceOf } from '../../../api/meta/object.ts'
import { RuleTable } from './rule-table.ts'
import type { AccessAttributes } from '../attributes.ts'
import type { Decision } from '../authorizer.ts'

export type Binding = RoleBinding | ClusterRoleBinding

/** A role that bindings reference; it need not exist. */
export interface RoleEntry {
  readonly namespace: string
  readonly name: string
  /** Undefined if the role does not exist. */
  table: RuleTable | undefined
  /** The number of grants of the role. */
  uses: number
}

/** One subject of one binding, with the decision that it causes. */
export interface Grant {
  readonly role: RoleEntry
  readonly binding: Binding
  readonly decision: Decision
}

export const grantOf = (binding: Binding, subject: Subject, role: RoleEntry): Grant => ({
  role,
  binding,
  decision: { kind: 'allowed', reason: () => `RBAC: allowed by ${describe(binding, subject)}` },
})

function describe({ kind, metadata, roleRef }: Binding, subject: Subject): string {
  const { namespace = '', name } = metadata
  const bindingName = JSON.stringify(namespace === '' ? name : `${name}/${namespace}`)
  const whom = subject.kind === 'ServiceAccount' ? `${subject.name}/${subject.namespace ?? namespace}` : subject.name
  return `${kind} ${bindingName} of ${roleRef.kind} ${JSON.stringify(roleRef.name)} to ${subject.kind} ${JSON.stringify(whom)}`
}

/** With more roles than this, a scope uses one table with all their rules. */
const rolesCheckedOneByOneMax = 16

export class Grants {
  /** Several bindings may grant the same role; the first one is reported as the reason. */
  readonly #byRole = new Map<RoleEntry, Set<Grant>>()
  #merged: { readonly table: RuleTable; readonly rolesVersion: number } | undefined

  get isEmpty(): boolean {
    return this.#byRole.size === 0
  }

  get roles(): Iterable<RoleEntry> {
    return this.#byRole.keys()
  }

  add(grant: Grant): void {
    getOrInsert(this.#byRole, grant.role, () => new Set()).add(grant)
    this.#merged = undefined
  }

  remove(grant: Grant): void {
    const grants = this.#byRole.get(grant.role)
    grants?.delete(grant)
    if (grants?.size === 0) this.#byRole.delete(grant.role)
    this.#merged = undefined
  }

  /** Allowed if one of the roles allows it; undefined otherwise. `rolesVersion` changes with every change of a role. */
  decide(attributes: AccessAttributes, rolesVersion: number): Decision | undefined {
    if (this.#byRole.size <= rolesCheckedOneByOneMax) return this.#find(attributes)?.decision
    if (this.#merged?.rolesVersion !== rolesVersion) this.#merged = { table: this.#allRules(), rolesVersion }
    if (!this.#merged.table.allows(attributes)) return undefined
    return { kind: 'allowed', reason: () => this.#find(attributes)?.decision.reason() ?? '' }
  }

  #find(attributes: AccessAttributes): Grant | undefined {
    for (const [role, [grant]] of this.#byRole) if (role.table?.allows(attributes)) return grant
    return undefined
  }

  #allRules(): RuleTable {
    return new RuleTable([...this.roles].flatMap(({ table }) => [...(table?.rules ?? [])]))
  }
}

/** The scope of a binding: its namespace, or empty for the cluster. */
export const scopeOf = (binding: Binding): string => namespaceOf(binding)
