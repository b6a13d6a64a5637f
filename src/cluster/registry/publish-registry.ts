// Publishes a local registry in a cluster, as KEP-1755 describes, so that tools such as Tilt and Skaffold push there.
import { configMap } from '../../api/core/v1/config-map.ts'
import { context } from '../../base/observability/context.ts'
import type { Client } from '../../client/client.ts'

const namespace = 'kube-public'

export async function publishRegistry(client: Client, host: string, signal: AbortSignal): Promise<void> {
  await client.of(configMap).apply(
    {
      metadata: { name: 'local-registry-hosting', namespace },
      data: { 'localRegistryHosting.v1': `host: ${JSON.stringify(host)}\n` },
    },
    { fieldManager: 'coxswain-registry', force: true },
    context(signal),
  )
}
