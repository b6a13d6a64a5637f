// CSI messages of the Controller service.
import { enumeration, mapOf, protoMessage, repeated, singular } from '../../../wire/protobuf/proto-message.ts'
import {
  capacityRange,
  int64Value,
  topology,
  topologyRequirement,
  volume,
  volumeCapability,
  volumeContentSource,
  volumeStatus,
} from './volume.ts'

const controllerCall = enumeration(
  'UNKNOWN',
  'CREATE_DELETE_VOLUME',
  'PUBLISH_UNPUBLISH_VOLUME',
  'LIST_VOLUMES',
  'GET_CAPACITY',
  'CREATE_DELETE_SNAPSHOT',
  'LIST_SNAPSHOTS',
  'CLONE_VOLUME',
  'PUBLISH_READONLY',
  'EXPAND_VOLUME',
  'LIST_VOLUMES_PUBLISHED_NODES',
  'VOLUME_CONDITION',
  'GET_VOLUME',
  'SINGLE_NODE_MULTI_WRITER',
  'MODIFY_VOLUME',
  'GET_SNAPSHOT',
)

export const controllerGetCapabilitiesRequest = protoMessage('csi.v1.ControllerGetCapabilitiesRequest', {})

export const controllerGetCapabilitiesResponse = protoMessage('csi.v1.ControllerGetCapabilitiesResponse', {
  capabilities: repeated(
    1,
    protoMessage('csi.v1.ControllerServiceCapability', {
      rpc: singular(1, protoMessage('csi.v1.ControllerServiceCapability.RPC', { type: singular(1, controllerCall) })),
    }),
  ),
})

export const createVolumeRequest = protoMessage('csi.v1.CreateVolumeRequest', {
  name: singular(1, 'string'),
  capacityRange: singular(2, capacityRange),
  volumeCapabilities: repeated(3, volumeCapability),
  parameters: mapOf(4, 'string'),
  secrets: mapOf(5, 'string'),
  volumeContentSource: singular(6, volumeContentSource),
  accessibilityRequirements: singular(7, topologyRequirement),
  mutableParameters: mapOf(8, 'string'),
})

export const createVolumeResponse = protoMessage('csi.v1.CreateVolumeResponse', { volume: singular(1, volume) })

export const deleteVolumeRequest = protoMessage('csi.v1.DeleteVolumeRequest', {
  volumeId: singular(1, 'string'),
  secrets: mapOf(2, 'string'),
})

export const deleteVolumeResponse = protoMessage('csi.v1.DeleteVolumeResponse', {})

export const controllerPublishVolumeRequest = protoMessage('csi.v1.ControllerPublishVolumeRequest', {
  volumeId: singular(1, 'string'),
  nodeId: singular(2, 'string'),
  volumeCapability: singular(3, volumeCapability),
  readonly: singular(4, 'bool'),
  secrets: mapOf(5, 'string'),
  volumeContext: mapOf(6, 'string'),
})

export const controllerPublishVolumeResponse = protoMessage('csi.v1.ControllerPublishVolumeResponse', {
  publishContext: mapOf(1, 'string'),
})

export const controllerUnpublishVolumeRequest = protoMessage('csi.v1.ControllerUnpublishVolumeRequest', {
  volumeId: singular(1, 'string'),
  nodeId: singular(2, 'string'),
  secrets: mapOf(3, 'string'),
})

export const controllerUnpublishVolumeResponse = protoMessage('csi.v1.ControllerUnpublishVolumeResponse', {})

export const validateVolumeCapabilitiesRequest = protoMessage('csi.v1.ValidateVolumeCapabilitiesRequest', {
  volumeId: singular(1, 'string'),
  volumeContext: mapOf(2, 'string'),
  volumeCapabilities: repeated(3, volumeCapability),
  parameters: mapOf(4, 'string'),
  secrets: mapOf(5, 'string'),
  mutableParameters: mapOf(6, 'string'),
})

/** Without `confirmed`, the volume lacks a capability. */
export const validateVolumeCapabilitiesResponse = protoMessage('csi.v1.ValidateVolumeCapabilitiesResponse', {
  confirmed: singular(
    1,
    protoMessage('csi.v1.ValidateVolumeCapabilitiesResponse.Confirmed', {
      volumeContext: mapOf(1, 'string'),
      volumeCapabilities: repeated(2, volumeCapability),
      parameters: mapOf(3, 'string'),
      mutableParameters: mapOf(4, 'string'),
    }),
  ),
  message: singular(2, 'string'),
})

export const listVolumesRequest = protoMessage('csi.v1.ListVolumesRequest', {
  maxEntries: singular(1, 'int32'),
  startingToken: singular(2, 'string'),
})

export const listVolumesResponse = protoMessage('csi.v1.ListVolumesResponse', {
  entries: repeated(
    1,
    protoMessage('csi.v1.ListVolumesResponse.Entry', {
      volume: singular(1, volume),
      status: singular(2, volumeStatus),
    }),
  ),
  nextToken: singular(2, 'string'),
})

export const controllerGetVolumeRequest = protoMessage('csi.v1.ControllerGetVolumeRequest', {
  volumeId: singular(1, 'string'),
})

export const controllerGetVolumeResponse = protoMessage('csi.v1.ControllerGetVolumeResponse', {
  volume: singular(1, volume),
  status: singular(2, volumeStatus),
})

export const getCapacityRequest = protoMessage('csi.v1.GetCapacityRequest', {
  volumeCapabilities: repeated(1, volumeCapability),
  parameters: mapOf(2, 'string'),
  accessibleTopology: singular(3, topology),
})

export const getCapacityResponse = protoMessage('csi.v1.GetCapacityResponse', {
  availableCapacity: singular(1, 'int64'),
  maximumVolumeSize: singular(2, int64Value),
  minimumVolumeSize: singular(3, int64Value),
})

export const controllerExpandVolumeRequest = protoMessage('csi.v1.ControllerExpandVolumeRequest', {
  volumeId: singular(1, 'string'),
  capacityRange: singular(2, capacityRange),
  secrets: mapOf(3, 'string'),
  volumeCapability: singular(4, volumeCapability),
})

export const controllerExpandVolumeResponse = protoMessage('csi.v1.ControllerExpandVolumeResponse', {
  capacityBytes: singular(1, 'int64'),
  nodeExpansionRequired: singular(2, 'bool'),
})

export const controllerModifyVolumeRequest = protoMessage('csi.v1.ControllerModifyVolumeRequest', {
  volumeId: singular(1, 'string'),
  secrets: mapOf(2, 'string'),
  mutableParameters: mapOf(3, 'string'),
})

export const controllerModifyVolumeResponse = protoMessage('csi.v1.ControllerModifyVolumeResponse', {})
