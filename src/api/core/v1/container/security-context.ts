// Security contexts of pods and containers.
import type { Infer } from '../../../../schema/descriptor/infer.ts'
import { bool, int64, list, message, string, struct } from '../../../../schema/descriptor/field.ts'

export const capabilities = message('io.k8s.api.core.v1.Capabilities', {
  add: list(1, 'string', { listType: 'atomic' }),
  drop: list(2, 'string', { listType: 'atomic' }),
})
export interface Capabilities extends Infer<typeof capabilities> {}

export const seLinuxOptions = message('io.k8s.api.core.v1.SELinuxOptions', {
  user: string(1),
  role: string(2),
  type: string(3),
  level: string(4),
})
export interface SELinuxOptions extends Infer<typeof seLinuxOptions> {}

export const seccompProfile = message('io.k8s.api.core.v1.SeccompProfile', {
  type: string(1, { required: true, enum: ['Localhost', 'RuntimeDefault', 'Unconfined'] }),
  localhostProfile: string(2, { pointer: true }),
})
export interface SeccompProfile extends Infer<typeof seccompProfile> {}

export const appArmorProfile = message('io.k8s.api.core.v1.AppArmorProfile', {
  type: string(1, { required: true, enum: ['Localhost', 'RuntimeDefault', 'Unconfined'] }),
  localhostProfile: string(2, { pointer: true }),
})
export interface AppArmorProfile extends Infer<typeof appArmorProfile> {}

export const windowsSecurityContextOptions = message('io.k8s.api.core.v1.WindowsSecurityContextOptions', {
  gmsaCredentialSpecName: string(1, { pointer: true }),
  gmsaCredentialSpec: string(2, { pointer: true }),
  runAsUserName: string(3, { pointer: true }),
  hostProcess: bool(4, { pointer: true }),
})
export interface WindowsSecurityContextOptions extends Infer<typeof windowsSecurityContextOptions> {}

export const securityContext = message('io.k8s.api.core.v1.SecurityContext', {
  capabilities: struct(1, capabilities, { pointer: true }),
  privileged: bool(2, { pointer: true }),
  seLinuxOptions: struct(3, seLinuxOptions, { pointer: true }),
  runAsUser: int64(4, { pointer: true, fitsDouble: true }),
  runAsNonRoot: bool(5, { pointer: true }),
  readOnlyRootFilesystem: bool(6, { pointer: true }),
  allowPrivilegeEscalation: bool(7, { pointer: true }),
  runAsGroup: int64(8, { pointer: true, fitsDouble: true }),
  procMount: string(9, { pointer: true, enum: ['Default', 'Unmasked'] }),
  windowsOptions: struct(10, windowsSecurityContextOptions, { pointer: true }),
  seccompProfile: struct(11, seccompProfile, { pointer: true }),
  appArmorProfile: struct(12, appArmorProfile, { pointer: true }),
})
export interface SecurityContext extends Infer<typeof securityContext> {}

export const sysctl = message('io.k8s.api.core.v1.Sysctl', {
  name: string(1, { required: true }),
  value: string(2, { required: true }),
})
export interface Sysctl extends Infer<typeof sysctl> {}

export const podSecurityContext = message('io.k8s.api.core.v1.PodSecurityContext', {
  seLinuxOptions: struct(1, seLinuxOptions, { pointer: true }),
  runAsUser: int64(2, { pointer: true, fitsDouble: true }),
  runAsNonRoot: bool(3, { pointer: true }),
  supplementalGroups: list(4, 'int64', { listType: 'atomic' }),
  fsGroup: int64(5, { pointer: true, fitsDouble: true }),
  runAsGroup: int64(6, { pointer: true, fitsDouble: true }),
  sysctls: list(7, sysctl, { listType: 'atomic' }),
  windowsOptions: struct(8, windowsSecurityContextOptions, { pointer: true }),
  fsGroupChangePolicy: string(9, { pointer: true, enum: ['Always', 'OnRootMismatch'] }),
  seccompProfile: struct(10, seccompProfile, { pointer: true }),
  appArmorProfile: struct(11, appArmorProfile, { pointer: true }),
  supplementalGroupsPolicy: string(12, { pointer: true, enum: ['Merge', 'Strict'] }),
  seLinuxChangePolicy: string(13, { pointer: true }),
})
export interface PodSecurityContext extends Infer<typeof podSecurityContext> {}
