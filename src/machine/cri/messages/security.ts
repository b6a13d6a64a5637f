// As whom a sandbox or container runs and what it may do.
import { enumeration, one, protoMessage, repeated } from '../../../wire/protobuf/message.ts'

const namespaceMode = enumeration('POD', 'CONTAINER', 'NODE', 'TARGET')
const securityProfileProfileType = enumeration('RuntimeDefault', 'Unconfined', 'Localhost')
const supplementalGroupsPolicy = enumeration('Merge', 'Strict')

export const namespaceOption = protoMessage('runtime.v1.NamespaceOption', {
  network: one(1, namespaceMode),
  pid: one(2, namespaceMode),
  ipc: one(3, namespaceMode),
  targetId: one(4, 'string'),
})

export const seLinuxOption = protoMessage('runtime.v1.SELinuxOption', {
  user: one(1, 'string'),
  role: one(2, 'string'),
  type: one(3, 'string'),
  level: one(4, 'string'),
})

export const int64Value = protoMessage('runtime.v1.Int64Value', {
  value: one(1, 'int64'),
})

export const securityProfile = protoMessage('runtime.v1.SecurityProfile', {
  profileType: one(1, securityProfileProfileType),
  localhostRef: one(2, 'string'),
})

export const linuxSandboxSecurityContext = protoMessage('runtime.v1.LinuxSandboxSecurityContext', {
  namespaceOptions: one(1, namespaceOption),
  selinuxOptions: one(2, seLinuxOption),
  runAsUser: one(3, int64Value),
  runAsGroup: one(8, int64Value),
  readonlyRootfs: one(4, 'bool'),
  supplementalGroups: repeated(5, 'int64'),
  supplementalGroupsPolicy: one(11, supplementalGroupsPolicy),
  privileged: one(6, 'bool'),
  seccomp: one(9, securityProfile),
  apparmor: one(10, securityProfile),
  seccompProfilePath: one(7, 'string'),
})

export const namespace = protoMessage('runtime.v1.Namespace', {
  options: one(2, namespaceOption),
})

export const capability = protoMessage('runtime.v1.Capability', {
  addCapabilities: repeated(1, 'string'),
  dropCapabilities: repeated(2, 'string'),
  addAmbientCapabilities: repeated(3, 'string'),
})

export const linuxContainerSecurityContext = protoMessage('runtime.v1.LinuxContainerSecurityContext', {
  capabilities: one(1, capability),
  privileged: one(2, 'bool'),
  namespaceOptions: one(3, namespaceOption),
  selinuxOptions: one(4, seLinuxOption),
  runAsUser: one(5, int64Value),
  runAsGroup: one(12, int64Value),
  runAsUsername: one(6, 'string'),
  readonlyRootfs: one(7, 'bool'),
  supplementalGroups: repeated(8, 'int64'),
  supplementalGroupsPolicy: one(17, supplementalGroupsPolicy),
  noNewPrivs: one(11, 'bool'),
  maskedPaths: repeated(13, 'string'),
  readonlyPaths: repeated(14, 'string'),
  seccomp: one(15, securityProfile),
  apparmor: one(16, securityProfile),
  apparmorProfile: one(9, 'string'),
  seccompProfilePath: one(10, 'string'),
})
