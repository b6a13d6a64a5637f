// The Controller service's calls for snapshots.
import type { ProtoInput } from '../../../wire/protobuf/proto-message.ts'
import type { snapshot as snapshotMessage } from '../messages/snapshot.ts'
import type { controllerService } from '../methods.ts'
import { DriverError, required } from './driver-error.ts'
import { pageOf } from './pages.ts'
import type { ServiceCalls } from './service-calls.ts'
import { idOf, snapshotsMax, volumeOf, type SnapshotRecord, type StorageSystem } from './storage-system.ts'

type SnapshotCalls = Pick<ServiceCalls<typeof controllerService>, 'createSnapshot' | 'deleteSnapshot' | 'listSnapshots'>

export const snapshotCalls = (storage: StorageSystem): SnapshotCalls => ({
  async createSnapshot({ name, sourceVolumeId }) {
    const id = idOf(required(name, 'name'))
    required(sourceVolumeId, 'source_volume_id')
    const { snapshots } = storage.records
    const existing = snapshots.get(id)
    if (existing !== undefined) {
      if (existing.sourceVolumeId === sourceVolumeId) return { snapshot: messageOf(storage, existing) }
      throw new DriverError('ALREADY_EXISTS', `snapshot ${name} exists for volume ${existing.sourceVolumeId}`)
    }
    if (snapshots.size >= snapshotsMax)
      throw new DriverError('RESOURCE_EXHAUSTED', `there are ${snapshotsMax} snapshots`)
    const volume = volumeOf(storage, sourceVolumeId)
    const snapshot = { id, sourceVolumeId, sizeBytes: volume.capacityBytes, createdMs: storage.clock.nowMs() }
    await storage.contents.createSnapshot(snapshot, volume)
    snapshots.set(id, snapshot)
    await storage.save()
    return { snapshot: messageOf(storage, snapshot) }
  },
  async deleteSnapshot({ snapshotId }) {
    const snapshot = storage.records.snapshots.get(required(snapshotId, 'snapshot_id'))
    if (snapshot === undefined) return {}
    await storage.contents.deleteSnapshot(snapshot)
    storage.records.snapshots.delete(snapshotId)
    await storage.save()
    return {}
  },
  listSnapshots({ maxEntries, startingToken, sourceVolumeId, snapshotId }) {
    const found = [...storage.records.snapshots.values()].filter(
      (snapshot) =>
        (snapshotId === '' || snapshot.id === snapshotId) &&
        (sourceVolumeId === '' || snapshot.sourceVolumeId === sourceVolumeId),
    )
    const { items, nextToken } = pageOf(found, maxEntries, startingToken)
    return { entries: items.map((snapshot) => ({ snapshot: messageOf(storage, snapshot) })), nextToken }
  },
})

const messageOf = (
  { clock, config }: StorageSystem,
  { id, sourceVolumeId, sizeBytes, createdMs }: SnapshotRecord,
): ProtoInput<typeof snapshotMessage> => ({
  snapshotId: id,
  sourceVolumeId,
  sizeBytes,
  creationTime: { seconds: Math.floor(createdMs / 1000), nanos: Math.floor(createdMs % 1000) * 1_000_000 },
  readyToUse: clock.nowMs() >= createdMs + config.snapshotReadyMs,
})
