// CSI messages of the Node service.
import { enumeration, mapOf, protoMessage, repeated, singular } from '../../../wire/protobuf/proto-message.ts'
import { capacityRange, topology, volumeCapability, volumeCondition } from './volume.ts'

const nodeCall = enumeration(
  'UNKNOWN',
  'STAGE_UNSTAGE_VOLUME',
  'GET_VOLUME_STATS',
  'EXPAND_VOLUME',
  'VOLUME_CONDITION',
  'SINGLE_NODE_MULTI_WRITER',
  'VOLUME_MOUNT_GROUP',
)

export const nodeGetCapabilitiesRequest = protoMessage('csi.v1.NodeGetCapabilitiesRequest', {})

export const nodeGetCapabilitiesResponse = protoMessage('csi.v1.NodeGetCapabilitiesResponse', {
  capabilities: repeated(
    1,
    protoMessage('csi.v1.NodeServiceCapability', {
      rpc: singular(1, protoMessage('csi.v1.NodeServiceCapability.RPC', { type: singular(1, nodeCall) })),
    }),
  ),
})

export const nodeGetInfoRequest = protoMessage('csi.v1.NodeGetInfoRequest', {})

export const nodeGetInfoResponse = protoMessage('csi.v1.NodeGetInfoResponse', {
  nodeId: singular(1, 'string'),
  maxVolumesPerNode: singular(2, 'int64'),
  accessibleTopology: singular(3, topology),
})

export const nodeStageVolumeRequest = protoMessage('csi.v1.NodeStageVolumeRequest', {
  volumeId: singular(1, 'string'),
  publishContext: mapOf(2, 'string'),
  stagingTargetPath: singular(3, 'string'),
  volumeCapability: singular(4, volumeCapability),
  secrets: mapOf(5, 'string'),
  volumeContext: mapOf(6, 'string'),
})

export const nodeStageVolumeResponse = protoMessage('csi.v1.NodeStageVolumeResponse', {})

export const nodeUnstageVolumeRequest = protoMessage('csi.v1.NodeUnstageVolumeRequest', {
  volumeId: singular(1, 'string'),
  stagingTargetPath: singular(2, 'string'),
})

export const nodeUnstageVolumeResponse = protoMessage('csi.v1.NodeUnstageVolumeResponse', {})

export const nodePublishVolumeRequest = protoMessage('csi.v1.NodePublishVolumeRequest', {
  volumeId: singular(1, 'string'),
  publishContext: mapOf(2, 'string'),
  stagingTargetPath: singular(3, 'string'),
  targetPath: singular(4, 'string'),
  volumeCapability: singular(5, volumeCapability),
  readonly: singular(6, 'bool'),
  secrets: mapOf(7, 'string'),
  volumeContext: mapOf(8, 'string'),
})

export const nodePublishVolumeResponse = protoMessage('csi.v1.NodePublishVolumeResponse', {})

export const nodeUnpublishVolumeRequest = protoMessage('csi.v1.NodeUnpublishVolumeRequest', {
  volumeId: singular(1, 'string'),
  targetPath: singular(2, 'string'),
})

export const nodeUnpublishVolumeResponse = protoMessage('csi.v1.NodeUnpublishVolumeResponse', {})

export const nodeGetVolumeStatsRequest = protoMessage('csi.v1.NodeGetVolumeStatsRequest', {
  volumeId: singular(1, 'string'),
  volumePath: singular(2, 'string'),
  stagingTargetPath: singular(3, 'string'),
})

const usageUnit = enumeration('UNKNOWN', 'BYTES', 'INODES')

export const nodeGetVolumeStatsResponse = protoMessage('csi.v1.NodeGetVolumeStatsResponse', {
  usage: repeated(
    1,
    protoMessage('csi.v1.VolumeUsage', {
      available: singular(1, 'int64'),
      total: singular(2, 'int64'),
      used: singular(3, 'int64'),
      unit: singular(4, usageUnit),
    }),
  ),
  volumeCondition: singular(2, volumeCondition),
})

export const nodeExpandVolumeRequest = protoMessage('csi.v1.NodeExpandVolumeRequest', {
  volumeId: singular(1, 'string'),
  volumePath: singular(2, 'string'),
  capacityRange: singular(3, capacityRange),
  stagingTargetPath: singular(4, 'string'),
  volumeCapability: singular(5, volumeCapability),
  secrets: mapOf(6, 'string'),
})

export const nodeExpandVolumeResponse = protoMessage('csi.v1.NodeExpandVolumeResponse', {
  capacityBytes: singular(1, 'int64'),
})
