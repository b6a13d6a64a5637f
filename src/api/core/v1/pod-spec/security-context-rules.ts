// Rules of security contexts: valid ids, complete profiles, consistent privileges.
import { append } from '../../../../base/collections/append.ts'
import {
  duplicate,
  forbidden,
  invalid,
  notSupported,
  required,
  type FieldError,
} from '../../../../schema/validation/field-error.ts'
import type { PodSpec } from './pod-spec.ts'
import type {
  AppArmorProfile,
  PodSecurityContext,
  SeccompProfile,
  SecurityContext,
  Sysctl,
} from '../container/security-context.ts'
import { validateDescendingPath } from '../../../validation/local-path-rules.ts'
import { type Int64 } from '../../../../schema/scalar/int64.ts'

const idMax = 2_147_483_647

const validateId = (id: Int64 | undefined, path: string): FieldError[] =>
  id !== undefined && (id < 0 || id > idMax) ? [invalid(path, id, `must be between 0 and ${idMax}, inclusive`)] : []

export function validateSecurityContext(
  context: SecurityContext | undefined,
  { hostUsers }: PodSpec,
  path: string,
): FieldError[] {
  if (context === undefined) return []
  const errors = [
    ...validateId(context.runAsUser, `${path}.runAsUser`),
    ...validateId(context.runAsGroup, `${path}.runAsGroup`),
  ]
  if (context.procMount === 'Unmasked' && hostUsers !== false)
    errors.push(invalid(`${path}.procMount`, context.procMount, '`hostUsers` must be false to use `Unmasked`'))
  append(errors, [
    ...validateSeccomp(context.seccompProfile, `${path}.seccompProfile`),
    ...validateAppArmor(context.appArmorProfile, `${path}.appArmorProfile`),
  ])
  return [...errors, ...validateEscalation(context, path)]
}

function validateEscalation(context: SecurityContext, path: string): FieldError[] {
  if (context.allowPrivilegeEscalation !== false) return []
  const errors: FieldError[] = []
  if (context.privileged)
    errors.push(invalid(path, asGo(context), 'cannot set `allowPrivilegeEscalation` to false and `privileged` to true'))
  if (context.capabilities?.add?.includes('CAP_SYS_ADMIN'))
    errors.push(
      invalid(
        path,
        asGo(context),
        'cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN',
      ),
    )
  return errors
}

/** Upstream shows the value as its internal type, with Go's field names. */
const asGo = (context: SecurityContext): object => ({
  Capabilities: context.capabilities
    ? { Add: context.capabilities.add ?? null, Drop: context.capabilities.drop ?? null }
    : null,
  Privileged: context.privileged ?? null,
  SELinuxOptions: goNames(context.seLinuxOptions),
  WindowsOptions: goNames(context.windowsOptions),
  RunAsUser: context.runAsUser ?? null,
  RunAsGroup: context.runAsGroup ?? null,
  RunAsNonRoot: context.runAsNonRoot ?? null,
  ReadOnlyRootFilesystem: context.readOnlyRootFilesystem ?? null,
  AllowPrivilegeEscalation: context.allowPrivilegeEscalation ?? null,
  ProcMount: context.procMount ?? null,
  SeccompProfile: goNames(context.seccompProfile),
  AppArmorProfile: goNames(context.appArmorProfile),
})

const goNames = (value: object | undefined): object | null =>
  value === undefined
    ? null
    : Object.fromEntries(
        Object.entries(value).map(([name, item]) => [`${name.charAt(0).toUpperCase()}${name.slice(1)}`, item]),
      )

function validateSeccomp(profile: SeccompProfile | undefined, path: string): FieldError[] {
  if (profile === undefined) return []
  const { type, localhostProfile: file } = profile
  const errors = type ? [] : [required(`${path}.type`, 'type is required when seccompProfile is set')]
  if (type === 'Localhost')
    return file === undefined
      ? [required(`${path}.localhostProfile`, 'must be set when seccomp type is Localhost')]
      : validateDescendingPath(file, `${path}.localhostProfile`)
  if (file !== undefined)
    errors.push(invalid(`${path}.localhostProfile`, file, 'can only be set when seccomp type is Localhost'))
  return errors
}

const appArmorNameMax = 4095

function validateAppArmor(profile: AppArmorProfile | undefined, path: string): FieldError[] {
  if (profile === undefined) return []
  const { type, localhostProfile: name } = profile
  const at = `${path}.localhostProfile`
  if (!type) return [required(`${path}.type`, 'type is required when appArmorProfile is set')]
  if (type !== 'Localhost')
    return name === undefined ? [] : [invalid(at, name, 'can only be set when AppArmor type is Localhost')]
  if (name === undefined || name.trim() === '') return [required(at, 'must be set when AppArmor type is Localhost')]
  if (name !== name.trim()) return [invalid(at, name, 'must not be padded with whitespace')]
  return name.length > appArmorNameMax ? [invalid(at, name, `must be no more than ${appArmorNameMax} bytes`)] : []
}

/** The pod's security context, and the host namespaces that it shares. */
export function validatePodSecurity(spec: PodSpec, path: string): FieldError[] {
  const { securityContext, hostPID, shareProcessNamespace } = spec
  const errors = validatePodContext(securityContext, spec, `${path}.securityContext`)
  if (shareProcessNamespace && hostPID)
    errors.push(
      invalid(
        `${path}.shareProcessNamespace`,
        shareProcessNamespace,
        'ShareProcessNamespace and HostPID cannot both be enabled',
      ),
    )
  return [...errors, ...validateHostUsers(spec, path)]
}

function validatePodContext(context: PodSecurityContext, spec: PodSpec, path: string): FieldError[] {
  const errors = [
    ...validateId(context.fsGroup, `${path}.fsGroup`),
    ...validateId(context.runAsUser, `${path}.runAsUser`),
    ...validateId(context.runAsGroup, `${path}.runAsGroup`),
    ...(context.supplementalGroups ?? []).flatMap((id, index) =>
      validateId(id, `${path}.supplementalGroups[${index}]`),
    ),
    ...validateSysctls(context.sysctls ?? [], spec, `${path}.sysctls`),
    ...validateSeccomp(context.seccompProfile, `${path}.seccompProfile`),
    ...validateAppArmor(context.appArmorProfile, `${path}.appArmorProfile`),
  ]
  const change = context.seLinuxChangePolicy
  if (change !== undefined && !changePolicies.includes(change))
    errors.push(notSupported(`${path}.seLinuxChangePolicy`, change, changePolicies))
  return errors
}

const changePolicies = ['MountOption', 'Recursive']
const sysctlSegment = '[a-z0-9]([-_a-z0-9]*[a-z0-9])?'
const sysctlName = `^(${sysctlSegment}[\\./])*${sysctlSegment}$`
const sysctlPattern = new RegExp(sysctlName)
const sysctlNameMax = 253

function validateSysctls(sysctls: readonly Sysctl[], spec: PodSpec, path: string): FieldError[] {
  if (sysctls.length === 0) return []
  const seen = new Set<string>()
  return sysctls.flatMap(({ name }, index) => {
    const at = `${path}[${index}].name`
    if (!name) return [required(at)]
    if (name.length > sysctlNameMax || !sysctlPattern.test(name))
      return [invalid(at, name, `must have at most ${sysctlNameMax} characters and match regex ${sysctlName}`)]
    if (seen.has(name)) return [duplicate(at, name)]
    seen.add(name)
    const shared = sharedNamespace(name.replaceAll('/', '.'), spec)
    return shared === undefined ? [] : [invalid(at, name, `may not be specified when '${shared}' is true`)]
  })
}

const ipcSysctls = /^(kernel\.shm|kernel\.msg|kernel\.sem$|fs\.mqueue\.)/

/** The field that makes this sysctl apply to the host, when it is set. */
function sharedNamespace(name: string, { hostNetwork, hostIPC }: PodSpec): 'hostNetwork' | 'hostIPC' | undefined {
  if (hostNetwork && name.startsWith('net.')) return 'hostNetwork'
  return hostIPC && ipcSysctls.test(name) ? 'hostIPC' : undefined
}

function validateHostUsers({ hostUsers, hostNetwork, hostPID, hostIPC }: PodSpec, path: string): FieldError[] {
  if (hostUsers !== false) return []
  const shared: [string, boolean | undefined][] = [
    ['hostNetwork', hostNetwork],
    ['HostPID', hostPID],
    ['HostIPC', hostIPC],
  ]
  return shared
    .filter(([, isShared]) => isShared)
    .map(([name]) => forbidden(`${path}.${name}`, 'when `pod.Spec.HostUsers` is false'))
}
