// ClusterRole aggregation: a ClusterRole with an aggregation rule gets the rules of all ClusterRoles that it selects.
import { clusterRole, type ClusterRole } from '../api/rbac/v1/cluster-role.ts'
import type { PolicyRule } from '../api/rbac/v1/policy-rule.ts'
import { keyOf } from '../api/meta/object.ts'
import type { Kind } from '../api/kind/kind.ts'
import { matchesLabels, selectorOf } from '../api/selectors/selectors.ts'
import { equalValues } from '../schema/json/json-value.ts'
import { defineController } from './runtime/controller.ts'

const isAggregated = ({ aggregationRule }: ClusterRole): boolean => aggregationRule !== undefined

export const clusterRoleAggregationController = defineController<ClusterRole>({
  name: 'cluster-role-aggregation',
  account: 'clusterrole-aggregation-controller',
  reconciles: clusterRole,
  owns: [],
  watches: [{ kind: clusterRole, enqueues: (_, view) => view.all(clusterRole).filter(isAggregated).map(keyOf) }],
  concerns: isAggregated,
  plan(role, view) {
    if (!isAggregated(role)) return { changes: [] }
    const rules = gathered(role, view.all(clusterRole))
    if (equalValues(rules, role.rules ?? [])) return { changes: [] }
    return {
      changes: [{ kind: 'update', of: clusterRole as unknown as Kind, object: { ...role, rules } as ClusterRole }],
    }
  },
})

function gathered(role: ClusterRole, roles: readonly ClusterRole[]): PolicyRule[] {
  const rules: PolicyRule[] = []
  for (const each of role.aggregationRule?.clusterRoleSelectors ?? []) {
    const selector = selectorOf(each) ?? []
    const others = roles.filter(
      ({ metadata }) => metadata.name !== role.metadata.name && matchesLabels(selector, metadata.labels),
    )
    for (const other of others.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1)))
      for (const rule of other.rules ?? []) if (!rules.some((known) => equalValues(known, rule))) rules.push(rule)
  }
  return rules
}
