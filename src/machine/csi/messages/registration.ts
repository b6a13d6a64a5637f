// Messages by which the kubelet and a plugin's registrar introduce a plugin to each other.
import { protoMessage, repeated, singular } from '../../../wire/protobuf/proto-message.ts'

export const infoRequest = protoMessage('pluginregistration.InfoRequest', {})

export const pluginInfo = protoMessage('pluginregistration.PluginInfo', {
  /** `CSIPlugin`, `DevicePlugin` or `DRAPlugin`. */
  type: singular(1, 'string'),
  name: singular(2, 'string'),
  /** The socket of the plugin; that of the registrar if it is empty. */
  endpoint: singular(3, 'string'),
  supportedVersions: repeated(4, 'string'),
})

export const registrationStatus = protoMessage('pluginregistration.RegistrationStatus', {
  pluginRegistered: singular(1, 'bool'),
  error: singular(2, 'string'),
})

export const registrationStatusResponse = protoMessage('pluginregistration.RegistrationStatusResponse', {})
