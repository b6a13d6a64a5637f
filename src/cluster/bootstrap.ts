// The objects that every new cluster has.
import type { Context } from '../base/context.ts'
import { namespace } from '../api/core/v1/namespace.ts'
import { priorityClass } from '../api/scheduling/v1/priority-class.ts'
import { hasReason } from '../api/status-error.ts'
import type { Client } from '../client/client.ts'

const namespaces = ['default', 'kube-node-lease', 'kube-public', 'kube-system']

const systemPriorities = [
  {
    metadata: { name: 'system-cluster-critical' },
    value: 2_000_000_000,
    description:
      'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.',
  },
  {
    metadata: { name: 'system-node-critical' },
    value: 2_000_001_000,
    description: 'Used for system critical pods that must not be moved from their current node.',
  },
]

export async function bootstrap(client: Client, context: Context): Promise<void> {
  const once = (making: Promise<unknown>) =>
    making.catch((error: unknown) => {
      if (!hasReason(error, 'AlreadyExists')) throw error
    })
  await Promise.all([
    ...namespaces.map((name) => once(client.of(namespace).create({ metadata: { name } }, '', context))),
    ...systemPriorities.map((object) => once(client.of(priorityClass).create(object, '', context))),
  ])
}
