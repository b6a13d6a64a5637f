// Security contexts of pods and containers.
import type { Infer } from '../../../../schema/descriptor/infer.ts'
import { bool, int64, list, message, string, struct } from '../../../../schema/descriptor/field.ts'

export const capabilities = message('io.k8s.api.core.v1.Capabilities', {
  add: list(1, 'string', { listType: 'atomic', description: 'Capabilities that are added, without the prefix CAP_.' }),
  drop: list(2, 'string', { listType: 'atomic', description: 'Capabilities that are removed; ALL for all of them.' }),
})
export interface Capabilities extends Infer<typeof capabilities> {}

export const seLinuxOptions = message('io.k8s.api.core.v1.SELinuxOptions', {
  user: string(1, { description: 'The SELinux user.' }),
  role: string(2, { description: 'The SELinux role.' }),
  type: string(3, { description: 'The SELinux type.' }),
  level: string(4, { description: 'The SELinux level.' }),
})
export interface SELinuxOptions extends Infer<typeof seLinuxOptions> {}

export const seccompProfile = message('io.k8s.api.core.v1.SeccompProfile', {
  type: string(1, {
    required: true,
    enum: ['Localhost', 'RuntimeDefault', 'Unconfined'],
    description: 'RuntimeDefault, Unconfined or Localhost.',
  }),
  localhostProfile: string(2, {
    pointer: true,
    description: 'The file of a Localhost profile, relative to the seccomp directory of the kubelet.',
  }),
})
export interface SeccompProfile extends Infer<typeof seccompProfile> {}

export const appArmorProfile = message('io.k8s.api.core.v1.AppArmorProfile', {
  type: string(1, {
    required: true,
    enum: ['Localhost', 'RuntimeDefault', 'Unconfined'],
    description: 'RuntimeDefault, Unconfined or Localhost.',
  }),
  localhostProfile: string(2, {
    pointer: true,
    description: 'The name of a Localhost profile that is loaded on the node.',
  }),
})
export interface AppArmorProfile extends Infer<typeof appArmorProfile> {}

export const windowsSecurityContextOptions = message('io.k8s.api.core.v1.WindowsSecurityContextOptions', {
  gmsaCredentialSpecName: string(1, { pointer: true, description: 'The name of the GMSA credential spec.' }),
  gmsaCredentialSpec: string(2, { pointer: true, description: 'The content of the GMSA credential spec.' }),
  runAsUserName: string(3, { pointer: true, description: 'The Windows user of the first process.' }),
  hostProcess: bool(4, {
    pointer: true,
    description: 'Whether the container is a HostProcess container; false by default.',
  }),
})
export interface WindowsSecurityContextOptions extends Infer<typeof windowsSecurityContextOptions> {}

export const securityContext = message('io.k8s.api.core.v1.SecurityContext', {
  capabilities: struct(1, capabilities, {
    pointer: true,
    description: 'Linux capabilities that are added to or dropped from those of the runtime.',
  }),
  privileged: bool(2, {
    pointer: true,
    description: 'Whether processes have the rights of root on the node; false by default.',
  }),
  seLinuxOptions: struct(3, seLinuxOptions, { pointer: true, description: 'The SELinux context of the container.' }),
  runAsUser: int64(4, {
    pointer: true,
    fitsDouble: true,
    description: 'The user ID of the first process; that of the image by default.',
  }),
  runAsNonRoot: bool(5, {
    pointer: true,
    description: 'Whether the container is refused if it would run as root (UID 0); false by default.',
  }),
  readOnlyRootFilesystem: bool(6, {
    pointer: true,
    description: 'Whether the root file system is read-only; false by default.',
  }),
  allowPrivilegeEscalation: bool(7, {
    pointer: true,
    description: 'Whether a process can get more rights than its parent; true by default.',
  }),
  runAsGroup: int64(8, {
    pointer: true,
    fitsDouble: true,
    description: 'The group ID of the first process; that of the image by default.',
  }),
  procMount: string(9, {
    pointer: true,
    enum: ['Default', 'Unmasked'],
    description: 'Default hides parts of /proc; Unmasked shows all of it.',
  }),
  windowsOptions: struct(10, windowsSecurityContextOptions, { pointer: true, description: 'Settings for Windows.' }),
  seccompProfile: struct(11, seccompProfile, { pointer: true, description: 'The filter of system calls.' }),
  appArmorProfile: struct(12, appArmorProfile, { pointer: true, description: 'The AppArmor profile.' }),
})
export interface SecurityContext extends Infer<typeof securityContext> {}

export const sysctl = message('io.k8s.api.core.v1.Sysctl', {
  name: string(1, { required: true, description: 'The name of the parameter, such as net.core.somaxconn.' }),
  value: string(2, { required: true, description: 'Its value.' }),
})
export interface Sysctl extends Infer<typeof sysctl> {}

export const podSecurityContext = message('io.k8s.api.core.v1.PodSecurityContext', {
  seLinuxOptions: struct(1, seLinuxOptions, { pointer: true, description: 'The SELinux context of all containers.' }),
  runAsUser: int64(2, {
    pointer: true,
    fitsDouble: true,
    description: 'The user ID of all containers; that of their image by default.',
  }),
  runAsNonRoot: bool(3, {
    pointer: true,
    description: 'Whether containers are refused that would run as root (UID 0); false by default.',
  }),
  supplementalGroups: list(4, 'int64', {
    listType: 'atomic',
    description: 'Further group IDs of the first processes.',
  }),
  fsGroup: int64(5, {
    pointer: true,
    fitsDouble: true,
    description: 'The group that owns the files of volumes and that processes belong to.',
  }),
  runAsGroup: int64(6, {
    pointer: true,
    fitsDouble: true,
    description: 'The group ID of all containers; that of their image by default.',
  }),
  sysctls: list(7, sysctl, { listType: 'atomic', description: 'Kernel parameters of the pod.' }),
  windowsOptions: struct(8, windowsSecurityContextOptions, { pointer: true, description: 'Settings for Windows.' }),
  fsGroupChangePolicy: string(9, {
    pointer: true,
    enum: ['Always', 'OnRootMismatch'],
    description: 'When the owner of files is changed to fsGroup: Always (the default) or OnRootMismatch.',
  }),
  seccompProfile: struct(10, seccompProfile, {
    pointer: true,
    description: 'The filter of system calls of all containers.',
  }),
  appArmorProfile: struct(11, appArmorProfile, {
    pointer: true,
    description: 'The AppArmor profile of all containers.',
  }),
  supplementalGroupsPolicy: string(12, {
    pointer: true,
    enum: ['Merge', 'Strict'],
    description: 'Whether groups of the image are added: Merge (the default) or Strict.',
  }),
  seLinuxChangePolicy: string(13, {
    pointer: true,
    description: 'How volumes get the SELinux label: MountOption (the default) or Recursive.',
  }),
})
export interface PodSecurityContext extends Infer<typeof podSecurityContext> {}
