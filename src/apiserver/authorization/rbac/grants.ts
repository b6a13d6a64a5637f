// Grants: what one subject was given in one scope, a namespace or the whole cluster: roles, each with the binding
// that gave it. Roles are cells that change under their bindings, so a changed role costs nothing here.
import { getOrInsert } from '../../../base/collections/get-or-insert.ts'
import type { ClusterRoleBinding } from '../../../api/rbac/v1/cluster-role-binding.ts'
import type { RoleBinding } from '../../../api/rbac/v1/role-binding.ts'
import type { Subject } from '../../../api/rbac/v1/policy-rule.ts'
import { namespaceOf } from '../../../api/meta/object.ts'
import { RuleTable } from './rule-table.ts'
import type { AccessAttributes } from '../attributes.ts'
import type { Decision } from '../authorizer.ts'

export type Binding = RoleBinding | ClusterRoleBinding

/** A role that bindings name, whether it exists or not. */
export interface RoleEntry {
  readonly namespace: string
  readonly name: string
  /** Undefined while there is no such role. */
  table: RuleTable | undefined
  /** How many grants name it. */
  uses: number
}

/** One subject of one binding, and the decision that it leads to. */
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

/** With more roles than this a scope keeps one table of all their rules. */
const rolesAskedOneByOneMax = 16

export class Grants {
  /** One of the grants of each role decides; the others only repeat it. */
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

  /** Allowed, when one of the roles allows it. `rolesVersion` changes with every change of a role. */
  decide(attributes: AccessAttributes, rolesVersion: number): Decision | undefined {
    if (this.#byRole.size <= rolesAskedOneByOneMax) return this.#find(attributes)?.decision
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

/** Where a binding has its effect: its namespace, or everywhere. */
export const scopeOf = (binding: Binding): string => namespaceOf(binding)
