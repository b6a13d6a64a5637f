// ClusterRole aggregation: a ClusterRole that names others by label has the rules of all of them.
import { clusterRole, type ClusterRole } from '../api/rbac/v1/cluster-role.ts'
import type { PolicyRule } from '../api/rbac/v1/rules.ts'
import { keyOf } from '../api/object.ts'
import type { Kind } from '../api/kind.ts'
import { selects } from '../api/selectors.ts'
import { equalValues } from '../schema/json-value.ts'
import { defineController } from './controller.ts'

export const clusterRoleAggregationController = defineController<ClusterRole>({
  name: 'cluster-role-aggregation',
  account: 'clusterrole-aggregation-controller',
  reconciles: clusterRole,
  owns: [],
  reads: [
    {
      kind: clusterRole,
      wakes: (_, view) =>
        view
          .all(clusterRole)
          .filter(({ aggregationRule }) => aggregationRule !== undefined)
          .map(keyOf),
    },
  ],
  plan(role, view) {
    if (role.aggregationRule === undefined) return { changes: [] }
    const rules = gathered(role, view.all(clusterRole))
    if (equalValues(rules, role.rules ?? [])) return { changes: [] }
    return {
      changes: [{ kind: 'update', of: clusterRole as unknown as Kind, object: { ...role, rules } as ClusterRole }],
    }
  },
})

function gathered(role: ClusterRole, roles: readonly ClusterRole[]): PolicyRule[] {
  const rules: PolicyRule[] = []
  for (const selector of role.aggregationRule?.clusterRoleSelectors ?? []) {
    const others = roles.filter(
      ({ metadata }) => metadata.name !== role.metadata.name && selects(selector, metadata.labels),
    )
    for (const other of others.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1)))
      for (const rule of other.rules ?? []) if (!rules.some((known) => equalValues(known, rule))) rules.push(rule)
  }
  return rules
}
