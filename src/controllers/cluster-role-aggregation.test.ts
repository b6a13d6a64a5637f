// Aggregation of ClusterRoles.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { clusterRole, type ClusterRole } from '../api/rbac/v1/cluster-role.ts'
import { clusterRoleAggregationController } from './cluster-role-aggregation.ts'
import { made, planOf } from './runtime/plan.harness.ts'

const rule = (resource: string) => ({ apiGroups: [''], resources: [resource], verbs: ['get'] })
const role = (name: string, to: string, ...resources: string[]) =>
  made(clusterRole, name, { metadata: { labels: { to } }, rules: resources.map(rule) })
const gathering = (rules: object[], ...to: string[]) =>
  made(clusterRole, 'all', {
    metadata: { labels: { to: 'x' } },
    aggregationRule: { clusterRoleSelectors: to.map((each) => ({ matchLabels: { to: each } })) },
    rules,
  })

const cases: [why: string, role: ClusterRole, others: ClusterRole[], resources: string[] | undefined][] = [
  [
    'aggregates the rules in order of name, each once',
    gathering([], 'x'),
    [role('b', 'x', 'pods', 'nodes'), role('a', 'x', 'pods')],
    ['pods', 'nodes'],
  ],
  [
    'aggregates by every selector',
    gathering([], 'y', 'x'),
    [role('a', 'x', 'pods'), role('b', 'y', 'nodes')],
    ['nodes', 'pods'],
  ],
  ['loses rules that no selected role has', gathering([rule('pods')], 'x'), [], []],
  ['that is up to date is not changed', gathering([rule('pods')], 'x'), [role('a', 'x', 'pods')], undefined],
  ['does not aggregate itself', gathering([], 'x'), [gathering([rule('pods')], 'x')], undefined],
  ['without an aggregation rule is not changed', role('a', 'x', 'pods'), [role('b', 'x', 'nodes')], undefined],
]
for (const [why, object, others, wanted] of cases)
  test(`a ClusterRole ${why}`, () => {
    const [change] = planOf(clusterRoleAggregationController, object, object, ...others).changes
    deepEqual(
      (change?.object as ClusterRole | undefined)?.rules?.map(({ resources }) => resources?.[0]),
      wanted,
    )
  })
