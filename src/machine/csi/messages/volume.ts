// Parts of CSI messages that describe volumes.
import { enumeration, mapOf, protoMessage, repeated, singular } from '../../../wire/protobuf/proto-message.ts'

export const accessMode = enumeration(
  'UNKNOWN',
  'SINGLE_NODE_WRITER',
  'SINGLE_NODE_READER_ONLY',
  'MULTI_NODE_READER_ONLY',
  'MULTI_NODE_SINGLE_WRITER',
  'MULTI_NODE_MULTI_WRITER',
  'SINGLE_NODE_SINGLE_WRITER',
  'SINGLE_NODE_MULTI_WRITER',
)

/** Either `block` or `mount`. */
export const volumeCapability = protoMessage('csi.v1.VolumeCapability', {
  block: singular(1, protoMessage('csi.v1.VolumeCapability.BlockVolume', {})),
  mount: singular(
    2,
    protoMessage('csi.v1.VolumeCapability.MountVolume', {
      fsType: singular(1, 'string'),
      mountFlags: repeated(2, 'string'),
      volumeMountGroup: singular(3, 'string'),
    }),
  ),
  accessMode: singular(3, protoMessage('csi.v1.VolumeCapability.AccessMode', { mode: singular(1, accessMode) })),
})

/** Zero: not limited. */
export const capacityRange = protoMessage('csi.v1.CapacityRange', {
  requiredBytes: singular(1, 'int64'),
  limitBytes: singular(2, 'int64'),
})

/** Either `snapshot` or `volume`. */
export const volumeContentSource = protoMessage('csi.v1.VolumeContentSource', {
  snapshot: singular(
    1,
    protoMessage('csi.v1.VolumeContentSource.SnapshotSource', { snapshotId: singular(1, 'string') }),
  ),
  volume: singular(2, protoMessage('csi.v1.VolumeContentSource.VolumeSource', { volumeId: singular(1, 'string') })),
})

export const topology = protoMessage('csi.v1.Topology', { segments: mapOf(1, 'string') })

export const topologyRequirement = protoMessage('csi.v1.TopologyRequirement', {
  requisite: repeated(1, topology),
  preferred: repeated(2, topology),
})

export const volume = protoMessage('csi.v1.Volume', {
  capacityBytes: singular(1, 'int64'),
  volumeId: singular(2, 'string'),
  volumeContext: mapOf(3, 'string'),
  contentSource: singular(4, volumeContentSource),
  accessibleTopology: repeated(5, topology),
})

export const volumeCondition = protoMessage('csi.v1.VolumeCondition', {
  abnormal: singular(1, 'bool'),
  message: singular(2, 'string'),
})

export const volumeStatus = protoMessage('csi.v1.VolumeStatus', {
  publishedNodeIds: repeated(1, 'string'),
  volumeCondition: singular(2, volumeCondition),
})

export const int64Value = protoMessage('google.protobuf.Int64Value', { value: singular(1, 'int64') })

export const boolValue = protoMessage('google.protobuf.BoolValue', { value: singular(1, 'bool') })

export const timestamp = protoMessage('google.protobuf.Timestamp', {
  seconds: singular(1, 'int64'),
  nanos: singular(2, 'int32'),
})
