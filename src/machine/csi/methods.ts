// The methods of CSI v1 and of plugin registration.
import { grpcMethod } from '../../wire/grpc/grpc-channel.ts'
import {
  getPluginInfoRequest,
  getPluginInfoResponse,
  getPluginCapabilitiesRequest,
  getPluginCapabilitiesResponse,
  probeRequest,
  probeResponse,
} from './messages/identity.ts'
import {
  controllerGetCapabilitiesRequest,
  controllerGetCapabilitiesResponse,
  createVolumeRequest,
  createVolumeResponse,
  deleteVolumeRequest,
  deleteVolumeResponse,
  controllerPublishVolumeRequest,
  controllerPublishVolumeResponse,
  controllerUnpublishVolumeRequest,
  controllerUnpublishVolumeResponse,
  validateVolumeCapabilitiesRequest,
  validateVolumeCapabilitiesResponse,
  listVolumesRequest,
  listVolumesResponse,
  controllerGetVolumeRequest,
  controllerGetVolumeResponse,
  getCapacityRequest,
  getCapacityResponse,
  controllerExpandVolumeRequest,
  controllerExpandVolumeResponse,
  controllerModifyVolumeRequest,
  controllerModifyVolumeResponse,
} from './messages/controller.ts'
import {
  createSnapshotRequest,
  createSnapshotResponse,
  deleteSnapshotRequest,
  deleteSnapshotResponse,
  listSnapshotsRequest,
  listSnapshotsResponse,
} from './messages/snapshot.ts'
import {
  nodeGetCapabilitiesRequest,
  nodeGetCapabilitiesResponse,
  nodeGetInfoRequest,
  nodeGetInfoResponse,
  nodeStageVolumeRequest,
  nodeStageVolumeResponse,
  nodeUnstageVolumeRequest,
  nodeUnstageVolumeResponse,
  nodePublishVolumeRequest,
  nodePublishVolumeResponse,
  nodeUnpublishVolumeRequest,
  nodeUnpublishVolumeResponse,
  nodeGetVolumeStatsRequest,
  nodeGetVolumeStatsResponse,
  nodeExpandVolumeRequest,
  nodeExpandVolumeResponse,
} from './messages/node.ts'
import { infoRequest, pluginInfo, registrationStatus, registrationStatusResponse } from './messages/registration.ts'

/** What a driver is and whether it is ready. */
export const identityService = {
  getPluginInfo: grpcMethod('csi.v1.Identity', 'GetPluginInfo', getPluginInfoRequest, getPluginInfoResponse),
  getPluginCapabilities: grpcMethod(
    'csi.v1.Identity',
    'GetPluginCapabilities',
    getPluginCapabilitiesRequest,
    getPluginCapabilitiesResponse,
  ),
  probe: grpcMethod('csi.v1.Identity', 'Probe', probeRequest, probeResponse),
} as const

/** Volumes and snapshots of the storage system, from any machine. */
export const controllerService = {
  controllerGetCapabilities: grpcMethod(
    'csi.v1.Controller',
    'ControllerGetCapabilities',
    controllerGetCapabilitiesRequest,
    controllerGetCapabilitiesResponse,
  ),
  createVolume: grpcMethod('csi.v1.Controller', 'CreateVolume', createVolumeRequest, createVolumeResponse),
  deleteVolume: grpcMethod('csi.v1.Controller', 'DeleteVolume', deleteVolumeRequest, deleteVolumeResponse),
  controllerPublishVolume: grpcMethod(
    'csi.v1.Controller',
    'ControllerPublishVolume',
    controllerPublishVolumeRequest,
    controllerPublishVolumeResponse,
  ),
  controllerUnpublishVolume: grpcMethod(
    'csi.v1.Controller',
    'ControllerUnpublishVolume',
    controllerUnpublishVolumeRequest,
    controllerUnpublishVolumeResponse,
  ),
  validateVolumeCapabilities: grpcMethod(
    'csi.v1.Controller',
    'ValidateVolumeCapabilities',
    validateVolumeCapabilitiesRequest,
    validateVolumeCapabilitiesResponse,
  ),
  listVolumes: grpcMethod('csi.v1.Controller', 'ListVolumes', listVolumesRequest, listVolumesResponse),
  controllerGetVolume: grpcMethod(
    'csi.v1.Controller',
    'ControllerGetVolume',
    controllerGetVolumeRequest,
    controllerGetVolumeResponse,
  ),
  getCapacity: grpcMethod('csi.v1.Controller', 'GetCapacity', getCapacityRequest, getCapacityResponse),
  controllerExpandVolume: grpcMethod(
    'csi.v1.Controller',
    'ControllerExpandVolume',
    controllerExpandVolumeRequest,
    controllerExpandVolumeResponse,
  ),
  controllerModifyVolume: grpcMethod(
    'csi.v1.Controller',
    'ControllerModifyVolume',
    controllerModifyVolumeRequest,
    controllerModifyVolumeResponse,
  ),
  createSnapshot: grpcMethod('csi.v1.Controller', 'CreateSnapshot', createSnapshotRequest, createSnapshotResponse),
  deleteSnapshot: grpcMethod('csi.v1.Controller', 'DeleteSnapshot', deleteSnapshotRequest, deleteSnapshotResponse),
  listSnapshots: grpcMethod('csi.v1.Controller', 'ListSnapshots', listSnapshotsRequest, listSnapshotsResponse),
} as const

/** Volumes on the machine of the driver. */
export const nodeService = {
  nodeGetCapabilities: grpcMethod(
    'csi.v1.Node',
    'NodeGetCapabilities',
    nodeGetCapabilitiesRequest,
    nodeGetCapabilitiesResponse,
  ),
  nodeGetInfo: grpcMethod('csi.v1.Node', 'NodeGetInfo', nodeGetInfoRequest, nodeGetInfoResponse),
  nodeStageVolume: grpcMethod('csi.v1.Node', 'NodeStageVolume', nodeStageVolumeRequest, nodeStageVolumeResponse),
  nodeUnstageVolume: grpcMethod(
    'csi.v1.Node',
    'NodeUnstageVolume',
    nodeUnstageVolumeRequest,
    nodeUnstageVolumeResponse,
  ),
  nodePublishVolume: grpcMethod(
    'csi.v1.Node',
    'NodePublishVolume',
    nodePublishVolumeRequest,
    nodePublishVolumeResponse,
  ),
  nodeUnpublishVolume: grpcMethod(
    'csi.v1.Node',
    'NodeUnpublishVolume',
    nodeUnpublishVolumeRequest,
    nodeUnpublishVolumeResponse,
  ),
  nodeGetVolumeStats: grpcMethod(
    'csi.v1.Node',
    'NodeGetVolumeStats',
    nodeGetVolumeStatsRequest,
    nodeGetVolumeStatsResponse,
  ),
  nodeExpandVolume: grpcMethod('csi.v1.Node', 'NodeExpandVolume', nodeExpandVolumeRequest, nodeExpandVolumeResponse),
} as const

/** Served by the registrar of a plugin and called by the kubelet. */
export const registrationService = {
  getInfo: grpcMethod('pluginregistration.Registration', 'GetInfo', infoRequest, pluginInfo),
  notifyRegistrationStatus: grpcMethod(
    'pluginregistration.Registration',
    'NotifyRegistrationStatus',
    registrationStatus,
    registrationStatusResponse,
  ),
} as const
