// What aggregated ClusterRoles are made of.
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
    'gathers the rules by name, each once',
    gathering([], 'x'),
    [role('b', 'x', 'pods', 'nodes'), role('a', 'x', 'pods')],
    ['pods', 'nodes'],
  ],
  [
    'gathers by every selector',
    gathering([], 'y', 'x'),
    [role('a', 'x', 'pods'), role('b', 'y', 'nodes')],
    ['nodes', 'pods'],
  ],
  ['drops what nobody gives any more', gathering([rule('pods')], 'x'), [], []],
  ['is content', gathering([rule('pods')], 'x'), [role('a', 'x', 'pods')], undefined],
  ['does not feed on itself', gathering([], 'x'), [gathering([rule('pods')], 'x')], undefined],
  ['that aggregates nothing is left alone', role('a', 'x', 'pods'), [role('b', 'x', 'nodes')], undefined],
]
for (const [why, object, others, wanted] of cases)
  test(`a ClusterRole ${why}`, () => {
    const [change] = planOf(clusterRoleAggregationController, object, object, ...others).changes
    deepEqual(
      (change?.object as ClusterRole | undefined)?.rules?.map(({ resources }) => resources?.[0]),
      wanted,
    )
  })
