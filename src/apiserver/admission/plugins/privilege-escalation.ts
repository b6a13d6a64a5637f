// Users cannot grant permissions that they do not have. This is checked when roles and bindings are written, unless the
// user may `escalate` or `bind`.
import type { ApiObject } from '../../../api/meta/object.ts'
import { namespaceOf } from '../../../api/meta/object.ts'
import { clusterRole, type ClusterRole } from '../../../api/rbac/v1/cluster-role.ts'
import { clusterRoleBinding } from '../../../api/rbac/v1/cluster-role-binding.ts'
import { roleBinding } from '../../../api/rbac/v1/role-binding.ts'
import { role } from '../../../api/rbac/v1/role.ts'
import { rbacGroup, type PolicyRule } from '../../../api/rbac/v1/policy-rule.ts'
import { forbidden, notFound } from '../../../api/errors/status-error.ts'
import { equalValues } from '../../../schema/json/json-value.ts'
import type { AdmissionAttributes, AdmissionPlugin } from '../framework/admission-plugin.ts'
import { resourceAttributes } from '../../authorization/attributes.ts'
import { type Authorizer } from '../../authorization/authorizer.ts'
import type { Binding } from '../../authorization/rbac/grants.ts'
import type { Rbac } from '../../authorization/rbac/rbac.ts'
import { uncoveredRules, quotedList, ruleLines } from '../../authorization/rbac/rule-coverage.ts'
import { RuleTable } from '../../authorization/rbac/rule-table.ts'
import { isPrivileged } from '../../request/user-names.ts'

/** The permissions that a user needs to write a role with an aggregation rule. */
const everything: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
]

export function privilegeEscalation(rbac: Rbac, chain: Authorizer): AdmissionPlugin {
  const may = async (
    { user, signal }: AdmissionAttributes,
    verb: string,
    resource: string,
    namespace: string,
    name: string,
  ): Promise<boolean> => {
    const attributes = resourceAttributes(user, verb, { group: rbacGroup, version: 'v1', resource, namespace, name })
    return (await chain.authorize(attributes, signal)).kind === 'allowed'
  }
  const requireHeld = ({ user, kind, name, namespace }: AdmissionAttributes, rules: readonly PolicyRule[]): void => {
    const missing = uncoveredRules(new RuleTable(rbac.rulesOf(user, namespace)), rules)
    if (missing.length === 0) return
    const errors = rbac.missingRolesOf(user, namespace)
    throw forbidden(
      kind,
      name,
      `user ${JSON.stringify(user.name)} (groups=${quotedList(user.groups)}) is attempting to grant RBAC permissions not currently held:\n${ruleLines(missing).join('\n')}${errors.length === 0 ? '' : `; resolution errors: [${errors.join(', ')}]`}`,
    )
  }
  const checkRole = async (attributes: AdmissionAttributes, object: RoleLike, old: RoleLike | undefined) => {
    const { kind, namespace, name } = attributes
    const isSame =
      old !== undefined &&
      equalValues(old.rules, object.rules) &&
      equalValues(old.aggregationRule, object.aggregationRule)
    if (isSame || (await may(attributes, 'escalate', kind.plural, namespace, name))) return
    requireHeld(attributes, object.rules ?? [])
    if (object.aggregationRule !== undefined) requireHeld(attributes, everything)
  }
  const checkBinding = async (
    attributes: AdmissionAttributes,
    object: Binding,
    old: Binding | undefined,
    rulesOfRole: (namespace: string, name: string) => readonly PolicyRule[],
  ): Promise<void> => {
    if (old !== undefined && equalValues(old.roleRef, object.roleRef) && equalValues(old.subjects, object.subjects))
      return
    const { kind, name } = object.roleRef
    const resource = kind === 'Role' ? role.plural : clusterRole.plural
    if (await may(attributes, 'bind', resource, namespaceOf(object), name)) return
    requireHeld(attributes, rulesOfRole(kind === 'Role' ? namespaceOf(object) : '', name))
  }
  return {
    name: 'RbacEscalation',
    handles: { operations: ['create', 'update'], kinds: [clusterRole, clusterRoleBinding, role, roleBinding] },
    async validate(attributes, reads) {
      const { kind, object, old, user } = attributes
      if (object === undefined || isPrivileged(user.groups)) return
      const rulesOfRole = (namespace: string, name: string) => {
        const of = namespace === '' ? clusterRole : role
        const found: RoleLike | undefined = reads.get<RoleLike>(of, namespace, name)
        if (found === undefined) throw notFound(of, name)
        return found.rules ?? []
      }
      if (kind === role || kind === clusterRole) await checkRole(attributes, object, old)
      else await checkBinding(attributes, object as Binding, old as Binding | undefined, rulesOfRole)
    },
  }
}

type RoleLike = ApiObject & Partial<Pick<ClusterRole, 'rules' | 'aggregationRule'>>
