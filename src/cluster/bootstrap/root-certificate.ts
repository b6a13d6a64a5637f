// The authorities that pods get: a server whose authorities are replaced changes those of kube-system, and the root-certificate
// controller then changes those of all namespaces.
import type { Context } from '../../base/observability/context.ts'
import { configMap } from '../../api/core/v1/config-map.ts'
import { firstRootCertificate } from '../../api/core/v1/root-certificate.ts'
import { splitKey } from '../../api/meta/object.ts'
import type { Client } from '../../client/client.ts'

/** Without the ConfigMap the controller has not created it yet. */
export async function publishRootCertificate(client: Client, authority: string, context: Context): Promise<void> {
  const { namespace, name } = splitKey(firstRootCertificate)
  const maps = client.of(configMap)
  const found = await maps.find(name, namespace, context)
  const data = { 'ca.crt': authority }
  if (found !== undefined) await maps.update({ ...found, data }, context)
}
