// The objects that every new cluster has.
import type { Context } from '../base/context.ts'
import { namespace } from '../api/core/v1/namespace.ts'
import { hasReason } from '../api/status-error.ts'
import type { Client } from '../client/client.ts'

const namespaces = ['default', 'kube-node-lease', 'kube-public', 'kube-system']

export async function bootstrap(client: Client, context: Context): Promise<void> {
  for (const name of namespaces)
    await client
      .of(namespace)
      .create({ metadata: { name } }, '', context)
      .catch((error: unknown) => {
        if (!hasReason(error, 'AlreadyExists')) throw error
      })
}
