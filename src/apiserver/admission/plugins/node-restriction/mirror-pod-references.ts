// References that a mirror pod must not have. A node may create mirror pods and may read what pods on it reference, so a
// reference in a mirror pod would give it access.
import type { PodSpec } from '../../../../api/core/v1/pod-spec/pod-spec.ts'
import type { Volume } from '../../../../api/core/v1/volume/volume.ts'
import { referencesOf } from '../../../authorization/node/pod-references.ts'

export const referencesSecrets = (spec: PodSpec): boolean =>
  referencesOf(spec).some(({ resource }) => resource === 'secrets')

/** The first forbidden reference of the pod, as upstream's messages name it. */
export function mirrorReference(spec: PodSpec): string | undefined {
  if (spec.serviceAccountName) return 'serviceaccounts'
  const references = referencesOf(spec)
  for (const resource of ['secrets', 'configmaps'])
    if (references.some((reference) => reference.resource === resource)) return resource
  if ((spec.resourceClaims ?? []).length > 0) return 'resourceclaims'
  return (spec.volumes ?? []).map(volumeReference).find((reference) => reference !== undefined)
}

function volumeReference({ persistentVolumeClaim, ephemeral, csi, projected }: Volume): string | undefined {
  if (persistentVolumeClaim !== undefined) return 'persistentvolumeclaims'
  if (ephemeral !== undefined) return 'persistentvolumeclaims (via ephemeral volumes)'
  if (csi !== undefined) return 'csidrivers (via CSI volumes)'
  for (const source of projected?.sources ?? []) {
    if (source.serviceAccountToken !== undefined) return 'serviceaccounts (via projected volumes)'
    if (source.clusterTrustBundle !== undefined) return 'clustertrustbundles'
    if (source.podCertificate !== undefined) return 'podcertificates'
  }
  return undefined
}
