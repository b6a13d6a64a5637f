// Which objects does a pod need on its node, beside itself? What it names in its volumes, its environment and its claims.
import { onceForSpec } from '../../../api/core/v1/bound-spec.ts'
import type { Container } from '../../../api/core/v1/container.ts'
import type { Pod } from '../../../api/core/v1/pod.ts'
import type { Volume } from '../../../api/core/v1/volume.ts'
import { namespaceOf } from '../../../api/object.ts'

/** `secrets default/token`: a resource and the key of an object of it. */
export type Needed = string

export const needed = (resource: string, namespace: string, name: string): Needed =>
  `${resource} ${namespace === '' ? name : `${namespace}/${name}`}`

const mirrorAnnotation = 'kubernetes.io/config.mirror'

/** Whether two versions of a pod surely name the same objects: most changes are of a status, and name nothing else. */
export const referAlike = (one: Pod, other: Pod): boolean =>
  one.spec === other.spec &&
  one.status.resourceClaimStatuses === other.status.resourceClaimStatuses &&
  one.metadata.annotations?.[mirrorAnnotation] === other.metadata.annotations?.[mirrorAnnotation]

export function podReferences(pod: Pod): readonly Needed[] {
  // A mirror of a static pod gets nothing: a node could write any names into it.
  if (pod.metadata.annotations?.[mirrorAnnotation] !== undefined) return []
  const namespace = namespaceOf(pod)
  const { resourceClaimStatuses = [] } = pod.status
  const references: Needed[] = []
  for (const { resource, name } of referencesOf(pod.spec)) references.push(needed(resource, namespace, name))
  for (const volume of ephemeralVolumes(pod.spec))
    references.push(needed('persistentvolumeclaims', namespace, `${pod.metadata.name}-${volume}`))
  for (const { resourceClaimName } of resourceClaimStatuses)
    if (resourceClaimName) references.push(needed('resourceclaims', namespace, resourceClaimName))
  return references
}

interface Reference {
  readonly resource: string
  readonly name: string
}

/** What a spec names itself. */
export const referencesOf = onceForSpec((spec): readonly Reference[] => {
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

/** Volumes whose claims are named after their pod. */
const ephemeralVolumes = onceForSpec(({ volumes = [] }): readonly string[] =>
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
