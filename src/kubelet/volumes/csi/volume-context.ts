// What a driver gets of the pod beside the volume's attributes: its name and tokens of its service account.
import type { Pod } from '../../../api/core/v1/pod/pod.ts'
import type { CSIDriverSpec } from '../../../api/storage/v1/csi-driver.ts'
import { namespaceOf } from '../../../api/meta/object.ts'
import type { AccountToken } from '../contract/volume-type.ts'
import type { CsiVolume } from './csi-volume.ts'

type Attributes = Readonly<Record<string, string>>

const tokensKey = 'csi.storage.k8s.io/serviceAccount.tokens'

/** The attributes with those of the pod, if the driver requires them. */
export const volumeContext = (
  volume: CsiVolume,
  pod: Pod,
  spec: Pick<CSIDriverSpec, 'podInfoOnMount'> | undefined,
): Attributes => ({
  ...volume.attributes,
  ...(spec?.podInfoOnMount === true ? podAttributes(pod, volume.lifecycle) : {}),
})

const podAttributes = (pod: Pod, lifecycle: CsiVolume['lifecycle']): Attributes => ({
  'csi.storage.k8s.io/pod.name': pod.metadata.name,
  'csi.storage.k8s.io/pod.namespace': namespaceOf(pod),
  'csi.storage.k8s.io/pod.uid': pod.metadata.uid,
  'csi.storage.k8s.io/serviceAccount.name': pod.spec.serviceAccountName ?? '',
  'csi.storage.k8s.io/ephemeral': String(lifecycle === 'Ephemeral'),
})

/** The tokens by audience, as JSON. */
export const tokenAttributes = (tokens: ReadonlyMap<string, AccountToken>): Attributes =>
  tokens.size === 0
    ? {}
    : {
        [tokensKey]: JSON.stringify(
          Object.fromEntries(
            [...tokens].map(([audience, { token, expirationTimestamp }]) => [audience, { token, expirationTimestamp }]),
          ),
        ),
      }

/** Why the driver does not support volumes of this lifecycle; undefined when it does. */
export function lifecycleProblem(
  { driver, lifecycle }: Pick<CsiVolume, 'driver' | 'lifecycle'>,
  spec: Pick<CSIDriverSpec, 'volumeLifecycleModes'> | undefined,
): string | undefined {
  const modes = spec?.volumeLifecycleModes ?? ['Persistent']
  if (modes.includes(lifecycle)) return undefined
  const names = modes.map((mode) => JSON.stringify(mode)).join(' ')
  return spec === undefined && lifecycle === 'Ephemeral'
    ? `volume mode "Ephemeral" not supported by driver ${driver} (no CSIDriver object)`
    : `volume mode ${JSON.stringify(lifecycle)} not supported by driver ${driver} (only supports [${names}])`
}
