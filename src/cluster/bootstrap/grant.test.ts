// Bindings of agents: those of earlier versions, to all nodes, are replaced; changes of users are kept.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { context } from '../../base/observability/context.ts'
import { clusterRoleBinding } from '../../api/rbac/v1/cluster-role-binding.ts'
import { startCluster } from '../testing/start-cluster.ts'
import { bindNetworkAgents } from './network-agents.ts'
import { publishLocalPath } from './local-path-storage.ts'

const ctx = context(new AbortController().signal)
const apiGroup = 'rbac.authorization.k8s.io'
const nodes = { apiGroup, kind: 'Group', name: 'system:nodes' }
const team = { apiGroup, kind: 'Group', name: 'team' }

const rows: [why: string, before: readonly object[] | undefined, after: readonly string[]][] = [
  ['a new cluster', undefined, ['coxswain-network']],
  ['bindings of an earlier version', [nodes], ['coxswain-network']],
  ['bindings that a user has changed', [team], ['team']],
]
for (const [why, before, after] of rows)
  test(`the subjects of agents: ${why}`, async () => {
    await using cluster = await startCluster({ nodes: 0 })
    const { client } = cluster
    await cluster.clock.advance('1s')
    const bindings = client.of(clusterRoleBinding)
    const roles = {
      'coxswain:node-proxier': 'system:node-proxier',
      'coxswain:local-path-node': 'coxswain:local-path-node',
    }
    for (const [name, role] of Object.entries(roles)) {
      const roleRef = { apiGroup, kind: 'ClusterRole', name: role }
      if (before !== undefined)
        await bindings.create({ metadata: { name }, roleRef, subjects: before } as never, '', ctx)
    }
    await bindNetworkAgents(client, ctx)
    await publishLocalPath(client, 'system:coxswain:local-path', false, ctx)
    const subjectsOf = async (name: string) => (await bindings.get(name, '', ctx)).subjects?.map((each) => each.name)
    deepEqual(await subjectsOf('coxswain:node-proxier'), after)
    deepEqual(
      await subjectsOf('coxswain:local-path-node'),
      after.map((name) => name.replace('network', 'local-path')),
    )
    deepEqual(await subjectsOf('coxswain:network-policy'), ['coxswain-network', 'system:kube-proxy'])
  })
