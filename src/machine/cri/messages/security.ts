// CRI messages of security contexts.
import { enumeration, singular, protoMessage, repeated } from '../../../wire/protobuf/proto-message.ts'

const namespaceMode = enumeration('POD', 'CONTAINER', 'NODE', 'TARGET')
const securityProfileProfileType = enumeration('RuntimeDefault', 'Unconfined', 'Localhost')
const supplementalGroupsPolicy = enumeration('Merge', 'Strict')

export const namespaceOption = protoMessage('runtime.v1.NamespaceOption', {
  network: singular(1, namespaceMode),
  pid: singular(2, namespaceMode),
  ipc: singular(3, namespaceMode),
  targetId: singular(4, 'string'),
})

export const seLinuxOption = protoMessage('runtime.v1.SELinuxOption', {
  user: singular(1, 'string'),
  role: singular(2, 'string'),
  type: singular(3, 'string'),
  level: singular(4, 'string'),
})

export const int64Value = protoMessage('runtime.v1.Int64Value', {
  value: singular(1, 'int64'),
})

export const securityProfile = protoMessage('runtime.v1.SecurityProfile', {
  profileType: singular(1, securityProfileProfileType),
  localhostRef: singular(2, 'string'),
})

export const linuxSandboxSecurityContext = protoMessage('runtime.v1.LinuxSandboxSecurityContext', {
  namespaceOptions: singular(1, namespaceOption),
  selinuxOptions: singular(2, seLinuxOption),
  runAsUser: singular(3, int64Value),
  runAsGroup: singular(8, int64Value),
  readonlyRootfs: singular(4, 'bool'),
  supplementalGroups: repeated(5, 'int64'),
  supplementalGroupsPolicy: singular(11, supplementalGroupsPolicy),
  privileged: singular(6, 'bool'),
  seccomp: singular(9, securityProfile),
  apparmor: singular(10, securityProfile),
  seccompProfilePath: singular(7, 'string'),
})

export const namespace = protoMessage('runtime.v1.Namespace', {
  options: singular(2, namespaceOption),
})

export const capability = protoMessage('runtime.v1.Capability', {
  addCapabilities: repeated(1, 'string'),
  dropCapabilities: repeated(2, 'string'),
  addAmbientCapabilities: repeated(3, 'string'),
})

export const linuxContainerSecurityContext = protoMessage('runtime.v1.LinuxContainerSecurityContext', {
  capabilities: singular(1, capability),
  privileged: singular(2, 'bool'),
  namespaceOptions: singular(3, namespaceOption),
  selinuxOptions: singular(4, seLinuxOption),
  runAsUser: singular(5, int64Value),
  runAsGroup: singular(12, int64Value),
  runAsUsername: singular(6, 'string'),
  readonlyRootfs: singular(7, 'bool'),
  supplementalGroups: repeated(8, 'int64'),
  supplementalGroupsPolicy: singular(17, supplementalGroupsPolicy),
  noNewPrivs: singular(11, 'bool'),
  maskedPaths: repeated(13, 'string'),
  readonlyPaths: repeated(14, 'string'),
  seccomp: singular(15, securityProfile),
  apparmor: singular(16, securityProfile),
  apparmorProfile: singular(9, 'string'),
  seccompProfilePath: singular(10, 'string'),
})
