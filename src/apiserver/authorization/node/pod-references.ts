// Which objects does a pod need on its node? What it names in its volumes, its environment and its claims.
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
  const namespace = namespaceOf(pod)
  const itself = needed('pods', namespace, pod.metadata.name)
  // A mirror of a static pod gets nothing: a node could write any names into it.
  if (pod.metadata.annotations?.[mirrorAnnotation] !== undefined) return [itself]
  const { spec } = pod
  const of = (resource: string, names: readonly (string | undefined)[]) =>
    names.flatMap((name) => (name === undefined || name === '' ? [] : [needed(resource, namespace, name)]))
  const containers = [
    ...spec.containers,
    ...(spec.initContainers ?? []),
    ...((spec.ephemeralContainers ?? []) as readonly Container[]),
  ]
  const volumes = spec.volumes ?? []
  return [
    itself,
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
      volumes.map(({ name, persistentVolumeClaim, ephemeral }) =>
        ephemeral === undefined ? persistentVolumeClaim?.claimName : `${pod.metadata.name}-${name}`,
      ),
    ),
    ...of('resourceclaims', [
      ...(spec.resourceClaims ?? []).map(({ resourceClaimName }) => resourceClaimName),
      ...(pod.status.resourceClaimStatuses ?? []).map(({ resourceClaimName }) => resourceClaimName),
    ]),
  ]
}

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
