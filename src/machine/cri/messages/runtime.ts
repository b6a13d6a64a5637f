// CRI messages of the runtime's version and status.
import { mapOf, singular, protoMessage, repeated } from '../../../wire/protobuf/proto-message.ts'

export const versionRequest = protoMessage('runtime.v1.VersionRequest', {
  version: singular(1, 'string'),
})

export const versionResponse = protoMessage('runtime.v1.VersionResponse', {
  version: singular(1, 'string'),
  runtimeName: singular(2, 'string'),
  runtimeVersion: singular(3, 'string'),
  runtimeApiVersion: singular(4, 'string'),
})

export const statusRequest = protoMessage('runtime.v1.StatusRequest', {
  verbose: singular(1, 'bool'),
})

export const runtimeCondition = protoMessage('runtime.v1.RuntimeCondition', {
  type: singular(1, 'string'),
  status: singular(2, 'bool'),
  reason: singular(3, 'string'),
  message: singular(4, 'string'),
})

export const runtimeStatus = protoMessage('runtime.v1.RuntimeStatus', {
  conditions: repeated(1, runtimeCondition),
})

export const runtimeHandlerFeatures = protoMessage('runtime.v1.RuntimeHandlerFeatures', {
  recursiveReadOnlyMounts: singular(1, 'bool'),
  userNamespaces: singular(2, 'bool'),
})

export const runtimeHandler = protoMessage('runtime.v1.RuntimeHandler', {
  name: singular(1, 'string'),
  features: singular(2, runtimeHandlerFeatures),
})

export const runtimeFeatures = protoMessage('runtime.v1.RuntimeFeatures', {
  supplementalGroupsPolicy: singular(1, 'bool'),
  userNamespacesHostNetwork: singular(2, 'bool'),
})

export const statusResponse = protoMessage('runtime.v1.StatusResponse', {
  status: singular(1, runtimeStatus),
  info: mapOf(2, 'string'),
  runtimeHandlers: repeated(3, runtimeHandler),
  features: singular(4, runtimeFeatures),
})
