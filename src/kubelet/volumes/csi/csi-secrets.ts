// Secrets that drivers need for a volume.
import type { Context } from '../../../base/observability/context.ts'
import { VolumeError, type VolumeSources } from '../contract/volume-type.ts'
import type { SecretLocation } from './csi-volume.ts'

/** `field`: how the reference is named in the message. */
export async function csiSecrets(
  sources: Pick<VolumeSources, 'secret'>,
  location: SecretLocation | undefined,
  field: 'NodeExpandSecretRef' | 'NodePublishSecretRef' | 'NodeStageSecretRef',
  context: Context,
): Promise<Readonly<Record<string, string>>> {
  if (location === undefined) return {}
  const { namespace, name } = location
  const secret = await sources.secret(namespace, name, context)
  if (secret === undefined)
    throw new VolumeError(
      `fetching ${field} ${namespace}/${name} failed: kubernetes.io/csi: failed to find the secret ${name} in the ` +
        `namespace ${namespace} with error: secrets ${JSON.stringify(name)} not found`,
    )
  const decoder = new TextDecoder()
  return Object.fromEntries(
    Object.entries(secret.data ?? {}).map(([key, value]) => [key, decoder.decode(Uint8Array.fromBase64(value))]),
  )
}
