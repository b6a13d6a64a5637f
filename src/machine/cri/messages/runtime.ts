// What the runtime says of itself.
import { mapOf, one, protoMessage, repeated } from '../../../wire/protobuf/message.ts'

export const versionRequest = protoMessage('runtime.v1.VersionRequest', {
  version: one(1, 'string'),
})

export const versionResponse = protoMessage('runtime.v1.VersionResponse', {
  version: one(1, 'string'),
  runtimeName: one(2, 'string'),
  runtimeVersion: one(3, 'string'),
  runtimeApiVersion: one(4, 'string'),
})

export const statusRequest = protoMessage('runtime.v1.StatusRequest', {
  verbose: one(1, 'bool'),
})

export const runtimeCondition = protoMessage('runtime.v1.RuntimeCondition', {
  type: one(1, 'string'),
  status: one(2, 'bool'),
  reason: one(3, 'string'),
  message: one(4, 'string'),
})

export const runtimeStatus = protoMessage('runtime.v1.RuntimeStatus', {
  conditions: repeated(1, runtimeCondition),
})

export const runtimeHandlerFeatures = protoMessage('runtime.v1.RuntimeHandlerFeatures', {
  recursiveReadOnlyMounts: one(1, 'bool'),
  userNamespaces: one(2, 'bool'),
})

export const runtimeHandler = protoMessage('runtime.v1.RuntimeHandler', {
  name: one(1, 'string'),
  features: one(2, runtimeHandlerFeatures),
})

export const runtimeFeatures = protoMessage('runtime.v1.RuntimeFeatures', {
  supplementalGroupsPolicy: one(1, 'bool'),
  userNamespacesHostNetwork: one(2, 'bool'),
})

export const statusResponse = protoMessage('runtime.v1.StatusResponse', {
  status: one(1, runtimeStatus),
  info: mapOf(2, 'string'),
  runtimeHandlers: repeated(3, runtimeHandler),
  features: one(4, runtimeFeatures),
})
