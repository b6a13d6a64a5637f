// CSI messages of snapshots.
import { mapOf, protoMessage, repeated, singular } from '../../../wire/protobuf/proto-message.ts'
import { timestamp } from './volume.ts'

export const snapshot = protoMessage('csi.v1.Snapshot', {
  sizeBytes: singular(1, 'int64'),
  snapshotId: singular(2, 'string'),
  sourceVolumeId: singular(3, 'string'),
  creationTime: singular(4, timestamp),
  readyToUse: singular(5, 'bool'),
  groupSnapshotId: singular(6, 'string'),
})

export const createSnapshotRequest = protoMessage('csi.v1.CreateSnapshotRequest', {
  sourceVolumeId: singular(1, 'string'),
  name: singular(2, 'string'),
  secrets: mapOf(3, 'string'),
  parameters: mapOf(4, 'string'),
})

export const createSnapshotResponse = protoMessage('csi.v1.CreateSnapshotResponse', { snapshot: singular(1, snapshot) })

export const deleteSnapshotRequest = protoMessage('csi.v1.DeleteSnapshotRequest', {
  snapshotId: singular(1, 'string'),
  secrets: mapOf(2, 'string'),
})

export const deleteSnapshotResponse = protoMessage('csi.v1.DeleteSnapshotResponse', {})

export const listSnapshotsRequest = protoMessage('csi.v1.ListSnapshotsRequest', {
  maxEntries: singular(1, 'int32'),
  startingToken: singular(2, 'string'),
  sourceVolumeId: singular(3, 'string'),
  snapshotId: singular(4, 'string'),
  secrets: mapOf(5, 'string'),
})

export const listSnapshotsResponse = protoMessage('csi.v1.ListSnapshotsResponse', {
  entries: repeated(1, protoMessage('csi.v1.ListSnapshotsResponse.Entry', { snapshot: singular(1, snapshot) })),
  nextToken: singular(2, 'string'),
})
