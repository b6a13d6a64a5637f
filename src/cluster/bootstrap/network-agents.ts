// The permissions of the network agents of nodes, which route the traffic of Services and enforce network policies. Those of
// kubelets in other processes act as a ServiceAccount, because a node may read neither other Nodes nor all pods.
import type { Context } from '../../base/observability/context.ts'
import type { Client } from '../../client/client.ts'
import { networkAgent } from '../../apiserver/authorization/node/node-agents.ts'
import { proxyUser } from '../client/component-users.ts'
import { bindRole, grant } from './grant.ts'

const verbs = ['list', 'watch']
const policyRules = [
  { verbs, apiGroups: [''], resources: ['namespaces', 'pods'] },
  { verbs, apiGroups: ['networking.k8s.io'], resources: ['networkpolicies'] },
]

/** As upstream's kube-proxy, and as the agents of CNI plugins that enforce policies. */
export async function bindNetworkAgents(client: Client, context: Context): Promise<void> {
  const proxies = { binding: 'coxswain:node-proxier', role: 'system:node-proxier', nodeAgent: networkAgent }
  await bindRole(client, proxies, context)
  const policies = { role: 'coxswain:network-policy', rules: policyRules, nodeAgent: networkAgent }
  await grant(client, { ...policies, user: proxyUser.name }, context)
}
