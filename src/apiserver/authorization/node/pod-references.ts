// The objects that a pod references in its volumes, environment, image pull secrets and claims.
import { cachedBySpec } from '../../../api/core/v1/pod-spec/bound-spec.ts'
import type { Container } from '../../../api/core/v1/container/container.ts'
import { mirrorPodAnnotation } from '../../../api/core/v1/pod/pod-annotations.ts'
import type { Pod } from '../../../api/core/v1/pod/pod.ts'
import type { Volume } from '../../../api/core/v1/volume/volume.ts'
import { namespaceOf } from '../../../api/meta/object.ts'

/** A resource and the key of an object: `secrets default/token`. */
export type ReferenceKey = string

export const referenceKey = (resource: string, namespace: string, name: string): ReferenceKey =>
  `${resource} ${namespace === '' ? name : `${namespace}/${name}`}`

/** Whether two versions of a pod certainly have the same references. Most changes are status updates. */
export const haveSameReferences = (one: Pod, other: Pod): boolean =>
  one.spec === other.spec &&
  one.status.resourceClaimStatuses === other.status.resourceClaimStatuses &&
  one.status.extendedResourceClaimStatus === other.status.extendedResourceClaimStatus &&
  one.metadata.annotations?.[mirrorPodAnnotation] === other.metadata.annotations?.[mirrorPodAnnotation]

export function podReferences(pod: Pod): readonly ReferenceKey[] {
  // The references of a mirror pod do not count, because a node creates mirror pods and could name any object.
  if (pod.metadata.annotations?.[mirrorPodAnnotation] !== undefined) return []
  const namespace = namespaceOf(pod)
  const { resourceClaimStatuses = [], extendedResourceClaimStatus } = pod.status
  const references: ReferenceKey[] = []
  for (const { resource, name } of referencesOf(pod.spec)) references.push(referenceKey(resource, namespace, name))
  for (const volume of ephemeralVolumes(pod.spec))
    references.push(referenceKey('persistentvolumeclaims', namespace, `${pod.metadata.name}-${volume}`))
  for (const { resourceClaimName } of [...resourceClaimStatuses, extendedResourceClaimStatus ?? {}])
    if (resourceClaimName) references.push(referenceKey('resourceclaims', namespace, resourceClaimName))
  return references
}

interface Reference {
  readonly resource: string
  readonly name: string
}

/** The references in a pod's spec. */
export const referencesOf = cachedBySpec((spec): readonly Reference[] => {
  const of = (resource: string, names: readonly (string | undefined)[]) =>
    names.flatMap((name) => (name === undefined || name === '' ? [] : [{ resource, name }]))
  const containers = [
    ...spec.containers,
    ...(spec.initContainers ?? []),
    ...((spec.ephemeralContainers ?? []) as readonly Container[]),
  ]
  const volumes = spec.volumes ?? []
  return [
    ...of('serviceaccounts', [spec.serviceAccountName ?? 'default']),
    ...of('secrets', [
      ...(spec.imagePullSecrets ?? []).map(({ name }) => name),
      ...containers.flatMap((container) => environmentNames(container, 'secretKeyRef', 'secretRef')),
      ...volumes.flatMap(volumeSecrets),
    ]),
    ...of('configmaps', [
      ...containers.flatMap((container) => environmentNames(container, 'configMapKeyRef', 'configMapRef')),
      ...volumes.flatMap(({ configMap, projected }) => [
        configMap?.name,
        ...(projected?.sources ?? []).map((source) => source.configMap?.name),
      ]),
    ]),
    ...of(
      'persistentvolumeclaims',
      volumes.map(({ persistentVolumeClaim, ephemeral }) =>
        ephemeral === undefined ? persistentVolumeClaim?.claimName : undefined,
      ),
    ),
    ...of(
      'resourceclaims',
      (spec.resourceClaims ?? []).map(({ resourceClaimName }) => resourceClaimName),
    ),
  ]
})

/** The names of ephemeral volumes, whose claims are named after the pod and the volume. */
const ephemeralVolumes = cachedBySpec(({ volumes = [] }): readonly string[] =>
  volumes.flatMap(({ name, ephemeral }) => (ephemeral === undefined ? [] : [name])),
)

const environmentNames = (
  { env = [], envFrom = [] }: Pick<Container, 'env' | 'envFrom'>,
  keyRef: 'secretKeyRef' | 'configMapKeyRef',
  wholeRef: 'secretRef' | 'configMapRef',
): (string | undefined)[] => [
  ...env.map(({ valueFrom }) => valueFrom?.[keyRef]?.name),
  ...envFrom.map((source) => source[wholeRef]?.name),
]

function volumeSecrets(volume: Volume): (string | undefined)[] {
  const { secret, projected, azureFile, csi } = volume
  const withReference = [volume.cephfs, volume.cinder, volume.flexVolume, volume.iscsi, volume.rbd, volume.scaleIO]
  return [
    secret?.secretName,
    azureFile?.secretName,
    csi?.nodePublishSecretRef?.name,
    volume.storageos?.secretRef?.name,
    ...(projected?.sources ?? []).map((source) => source.secret?.name),
    ...withReference.map((source) => source?.secretRef?.name),
  ]
}
