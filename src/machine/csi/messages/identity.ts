// CSI messages of the Identity service.
import { enumeration, mapOf, protoMessage, repeated, singular } from '../../../wire/protobuf/proto-message.ts'
import { boolValue } from './volume.ts'

export const getPluginInfoRequest = protoMessage('csi.v1.GetPluginInfoRequest', {})

export const getPluginInfoResponse = protoMessage('csi.v1.GetPluginInfoResponse', {
  name: singular(1, 'string'),
  vendorVersion: singular(2, 'string'),
  manifest: mapOf(3, 'string'),
})

const pluginService = enumeration(
  'UNKNOWN',
  'CONTROLLER_SERVICE',
  'VOLUME_ACCESSIBILITY_CONSTRAINTS',
  'GROUP_CONTROLLER_SERVICE',
  'SNAPSHOT_METADATA_SERVICE',
)
const volumeExpansion = enumeration('UNKNOWN', 'ONLINE', 'OFFLINE')

/** Either `service` or `volumeExpansion`. */
const pluginCapability = protoMessage('csi.v1.PluginCapability', {
  service: singular(1, protoMessage('csi.v1.PluginCapability.Service', { type: singular(1, pluginService) })),
  volumeExpansion: singular(
    2,
    protoMessage('csi.v1.PluginCapability.VolumeExpansion', { type: singular(1, volumeExpansion) }),
  ),
})

export const getPluginCapabilitiesRequest = protoMessage('csi.v1.GetPluginCapabilitiesRequest', {})

export const getPluginCapabilitiesResponse = protoMessage('csi.v1.GetPluginCapabilitiesResponse', {
  capabilities: repeated(1, pluginCapability),
})

export const probeRequest = protoMessage('csi.v1.ProbeRequest', {})

/** Ready if it is absent. */
export const probeResponse = protoMessage('csi.v1.ProbeResponse', { ready: singular(1, boolValue) })
