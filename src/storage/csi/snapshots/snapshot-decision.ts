// Names, annotations and finalizers of snapshots, and what the objects of a snapshot become.
import type { PersistentVolumeClaim } from '../../../api/core/v1/volume/persistent-volume-claim.ts'
import type { PersistentVolume } from '../../../api/core/v1/volume/persistent-volume.ts'
import { namespaceOf } from '../../../api/meta/object.ts'
import { driverParameters, secretRef, type SecretRef } from '../sidecar/class-parameters.ts'
import { bytesText } from '../sidecar/quantities.ts'
import type { VolumeSnapshot, VolumeSnapshotClass, VolumeSnapshotContent } from './snapshot-kinds.ts'

export const sourceFinalizer = 'snapshot.storage.kubernetes.io/volumesnapshot-as-source-protection'
export const boundFinalizer = 'snapshot.storage.kubernetes.io/volumesnapshot-bound-protection'
export const contentFinalizer = 'snapshot.storage.kubernetes.io/volumesnapshotcontent-bound-protection'
export const claimFinalizer = 'snapshot.storage.kubernetes.io/pvc-as-source-protection'
/** While CreateSnapshot may be in progress. */
export const creatingAnnotation = 'snapshot.storage.kubernetes.io/volumesnapshot-being-created'
/** The snapshot's object was deleted, so its snapshot may be deleted, too. */
export const deletingAnnotation = 'snapshot.storage.kubernetes.io/volumesnapshot-being-deleted'
const defaultClassAnnotation = 'snapshot.storage.kubernetes.io/is-default-class'
const secretNameAnnotation = 'snapshot.storage.kubernetes.io/deletion-secret-name'
const secretNamespaceAnnotation = 'snapshot.storage.kubernetes.io/deletion-secret-namespace'

export const contentNameOf = ({ metadata }: VolumeSnapshot): string => `snapcontent-${metadata.uid}`

/** The name of the snapshot for the driver. */
export const snapshotNameOf = ({ spec }: VolumeSnapshotContent): string => `snapshot-${spec.volumeSnapshotRef.uid}`

/** The named class, or the default class of the driver. Throws when there is none, or several. */
export function classOfSnapshot(
  { spec }: VolumeSnapshot,
  driverName: string,
  classes: readonly VolumeSnapshotClass[],
): VolumeSnapshotClass {
  const name = spec.volumeSnapshotClassName
  if (name !== undefined) {
    const found = classes.find(({ metadata }) => metadata.name === name)
    if (found === undefined)
      throw new Error(
        `failed to retrieve snapshot class ${name} from the informer: volumesnapshotclass "${name}" not found`,
      )
    return found
  }
  const defaults = classes.filter(
    ({ metadata, driver }) => metadata.annotations?.[defaultClassAnnotation] === 'true' && driver === driverName,
  )
  const [first, ...others] = defaults
  if (first === undefined) throw new Error('cannot find default snapshot class')
  if (others.length > 0) throw new Error(`${defaults.length} default snapshot classes were found`)
  return first
}

/** The content of a snapshot that is to be made. */
export function contentOf(snapshot: VolumeSnapshot, snapshotClass: VolumeSnapshotClass, volume: PersistentVolume) {
  const { name, uid } = snapshot.metadata
  const ref = secretOf(snapshot, snapshotClass)
  return {
    metadata: {
      name: contentNameOf(snapshot),
      finalizers: [contentFinalizer],
      ...(ref === undefined
        ? {}
        : { annotations: { [secretNameAnnotation]: ref.name, [secretNamespaceAnnotation]: ref.namespace } }),
    },
    spec: {
      volumeSnapshotRef: {
        apiVersion: snapshot.apiVersion,
        kind: snapshot.kind,
        name,
        namespace: namespaceOf(snapshot),
        uid,
      },
      deletionPolicy: snapshotClass.deletionPolicy,
      driver: snapshotClass.driver,
      volumeSnapshotClassName: snapshotClass.metadata.name,
      source: { volumeHandle: volume.spec.csi?.volumeHandle ?? '' },
      sourceVolumeMode: volume.spec.volumeMode,
    },
  }
}

const secretOf = (snapshot: VolumeSnapshot, { parameters = {} }: VolumeSnapshotClass): SecretRef | undefined =>
  secretRef(parameters, 'snapshotter', {
    'volumesnapshotcontent.name': contentNameOf(snapshot),
    'volumesnapshot.name': snapshot.metadata.name,
    'volumesnapshot.namespace': namespaceOf(snapshot),
  })

/** The secret with which a snapshot is created and deleted. */
export const contentSecretOf = ({ metadata }: VolumeSnapshotContent): SecretRef => ({
  name: metadata.annotations?.[secretNameAnnotation] ?? '',
  namespace: metadata.annotations?.[secretNamespaceAnnotation] ?? '',
})

export const snapshotParameters = ({ parameters = {} }: VolumeSnapshotClass): Readonly<Record<string, string>> =>
  driverParameters(parameters)

/** The status of a snapshot from its content. */
export function snapshotStatus(content: VolumeSnapshotContent, toTime: (ms: number) => string) {
  const { status } = content
  const { creationTime, restoreSize, readyToUse = false, error } = status ?? {}
  return {
    boundVolumeSnapshotContentName: content.metadata.name,
    readyToUse,
    ...(creationTime === undefined ? {} : { creationTime: toTime(Number(creationTime) / 1_000_000) }),
    ...(restoreSize === undefined ? {} : { restoreSize: bytesText(restoreSize) }),
    error: error ?? null,
  }
}

/** Whether the claim is being filled from the snapshot. */
export const isRestoring = (claim: PersistentVolumeClaim, snapshot: VolumeSnapshot): boolean =>
  claim.status.phase === 'Pending' &&
  namespaceOf(claim) === namespaceOf(snapshot) &&
  claim.spec.dataSource?.kind === 'VolumeSnapshot' &&
  claim.spec.dataSource.name === snapshot.metadata.name
