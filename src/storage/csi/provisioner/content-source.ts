// The data source of a claim as the driver's content source: a snapshot or another claim's volume.
import type { Context } from '../../../base/observability/context.ts'
import {
  persistentVolumeClaim,
  type PersistentVolumeClaim,
} from '../../../api/core/v1/volume/persistent-volume-claim.ts'
import { persistentVolume } from '../../../api/core/v1/volume/persistent-volume.ts'
import { isBeingDeleted, namespaceOf } from '../../../api/meta/object.ts'
import type { Client } from '../../../client/client.ts'
import type { volumeContentSource } from '../../../machine/csi/messages/volume.ts'
import type { ProtoInput } from '../../../wire/protobuf/proto-message.ts'
import { addFinalizer } from '../sidecar/finalizers.ts'
import { storageBytes } from '../sidecar/quantities.ts'
import { quantityUnits } from '../../../schema/scalar/quantity.ts'
import { volumeSnapshot, volumeSnapshotContent } from '../snapshots/snapshot-kinds.ts'

/** Keeps the claim that is cloned until the clone is complete. */
export const cloningFinalizer = 'provisioner.storage.kubernetes.io/cloning-protection'

type ContentSource = ProtoInput<typeof volumeContentSource>

export interface ContentSourceOptions {
  readonly client: Client
  readonly driverName: string
  readonly claim: PersistentVolumeClaim
}

export async function contentSource(
  options: ContentSourceOptions,
  context: Context,
): Promise<ContentSource | undefined> {
  const { claim } = options
  const source = claim.spec.dataSourceRef ?? claim.spec.dataSource
  if (source === undefined) return undefined
  const namespace = claim.spec.dataSourceRef?.namespace || namespaceOf(claim)
  if (namespace !== namespaceOf(claim)) throw new Error('accessing a data source in another namespace is not supported')
  return source.kind === 'VolumeSnapshot'
    ? snapshotSource(options, source.name, context)
    : cloneSource(options, source.name, context)
}

async function snapshotSource(
  { client, driverName, claim }: ContentSourceOptions,
  name: string,
  context: Context,
): Promise<ContentSource> {
  const found = await client.of(volumeSnapshot).get(name, namespaceOf(claim), context)
  const contentName = found.status?.boundVolumeSnapshotContentName
  if (isBeingDeleted(found)) throw new Error(`snapshot ${name} is currently being deleted`)
  if (found.status?.readyToUse !== true || !contentName) throw new Error(`snapshot ${name} is not Ready`)
  const content = await client.of(volumeSnapshotContent).get(contentName, context)
  const { uid, namespace } = content.spec.volumeSnapshotRef
  if (uid !== found.metadata.uid || namespace !== namespaceOf(claim))
    throw new Error(`snapshotContent ${contentName} is not bound to snapshot ${name}`)
  if (content.spec.driver !== driverName)
    throw new Error(`the driver of the snapshot is ${content.spec.driver}, not ${driverName}`)
  const snapshotId = content.status?.snapshotHandle
  if (!snapshotId) throw new Error(`snapshot handle ${contentName} is not available`)
  const requested = storageBytes(claim.spec.resources?.requests)
  const restoreBytes = quantityUnits(found.status.restoreSize)
  if (restoreBytes > requested)
    throw new Error(
      `requested volume size ${requested} is less than the size ${restoreBytes} for the source snapshot ${name}`,
    )
  return { snapshot: { snapshotId } }
}

async function cloneSource(
  { client, driverName, claim }: ContentSourceOptions,
  name: string,
  context: Context,
): Promise<ContentSource> {
  const source = await client.of(persistentVolumeClaim).get(name, namespaceOf(claim), context)
  if (isBeingDeleted(source)) throw new Error(`the PVC DataSource ${name} is currently being deleted`)
  if (source.status.phase !== 'Bound' || !source.spec.volumeName)
    throw new Error(`the PVC DataSource ${name} must be bound`)
  if (source.spec.volumeMode !== claim.spec.volumeMode)
    throw new Error(`the source PVC ${name} and its clone have different volume modes`)
  const volume = await client.of(persistentVolume).get(source.spec.volumeName, context)
  if (volume.spec.csi?.driver !== driverName)
    throw new Error(`the source volume ${volume.metadata.name} is not of the driver ${driverName}`)
  const requested = storageBytes(claim.spec.resources?.requests)
  const existing = storageBytes(volume.spec.capacity)
  if (requested < existing)
    throw new Error(
      `new PVC request must be greater than or equal in size to the specified PVC data source, requested ${requested} but source is ${existing}`,
    )
  await addFinalizer(client, persistentVolumeClaim, source, cloningFinalizer, context)
  return { volume: { volumeId: volume.spec.csi.volumeHandle } }
}
