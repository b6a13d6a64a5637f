// What a pod that only mirrors a static pod must not reference. A node writes mirror pods, and what a pod on a node
// references, the node may read.
import type { PodSpec } from '../../../../api/core/v1/pod-spec/pod-spec.ts'
import type { Volume } from '../../../../api/core/v1/volume/volume.ts'
import { referencesOf } from '../../../authorization/node/pod-references.ts'

export const referencesSecrets = (spec: PodSpec): boolean =>
  referencesOf(spec).some(({ resource }) => resource === 'secrets')

/** What the pod references first, in upstream's words. */
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
