// Security contexts of pods and containers; the container's values override the pod's.
import type { Container } from '../../api/core/v1/container/container.ts'
import type { PodSpec } from '../../api/core/v1/pod-spec/pod-spec.ts'
import type {
  AppArmorProfile,
  PodSecurityContext,
  SeccompProfile,
  SecurityContext,
} from '../../api/core/v1/container/security-context.ts'
import type {
  ContainerSecurity,
  SandboxNamespaces,
  SandboxSecurity,
  SecurityProfile,
} from '../../machine/runtime/runtime-config.ts'
import type { RuntimeImage } from '../../machine/runtime/container-runtime.ts'
import { ConfigError } from './config-error.ts'

export const namespacesOf = (spec: PodSpec): SandboxNamespaces => ({
  network: spec.hostNetwork ? 'node' : 'pod',
  processes: spec.hostPID ? 'node' : spec.shareProcessNamespace ? 'pod' : 'container',
  ipc: spec.hostIPC ? 'node' : 'pod',
})

export function sandboxSecurity(spec: PodSpec): SandboxSecurity {
  const { securityContext } = spec
  const all = [...(spec.initContainers ?? []), ...spec.containers]
  return {
    ...(securityContext?.runAsUser === undefined ? {} : { runAsUser: securityContext.runAsUser }),
    ...(securityContext?.runAsGroup === undefined || securityContext.runAsUser === undefined
      ? {}
      : { runAsGroup: securityContext.runAsGroup }),
    supplementalGroups: groupsOf(securityContext),
    privileged: all.some((container) => container.securityContext?.privileged ?? false),
    ...profile('seccomp', securityContext?.seccompProfile),
  }
}

export function containerSecurity(
  container: Pick<Container, 'name' | 'securityContext'>,
  spec: PodSpec,
  image: Pick<RuntimeImage, 'uid' | 'username'>,
): ContainerSecurity {
  const own: Partial<SecurityContext> = container.securityContext ?? {}
  const shared: Partial<PodSecurityContext> = spec.securityContext ?? {}
  const user = own.runAsUser ?? shared.runAsUser
  rejectRoot(container.name, own.runAsNonRoot ?? shared.runAsNonRoot ?? false, user, image)
  const privileged = own.privileged ?? false
  const group = own.runAsGroup ?? shared.runAsGroup
  const seLinux = own.seLinuxOptions ?? shared.seLinuxOptions
  return {
    namespaces: namespacesOf(spec),
    ...userOf(user, image),
    ...(group === undefined ? {} : { runAsGroup: group }),
    supplementalGroups: groupsOf(spec.securityContext),
    privileged,
    readOnlyRoot: own.readOnlyRootFilesystem ?? false,
    noNewPrivileges: own.allowPrivilegeEscalation === false,
    addedCapabilities: own.capabilities?.add ?? [],
    droppedCapabilities: own.capabilities?.drop ?? [],
    ...(privileged ? {} : profile('seccomp', own.seccompProfile ?? shared.seccompProfile)),
    ...(privileged ? {} : profile('appArmor', own.appArmorProfile ?? shared.appArmorProfile)),
    unmaskedProc: own.procMount === 'Unmasked',
    ...(seLinux === undefined
      ? {}
      : {
          seLinux: {
            user: seLinux.user ?? '',
            role: seLinux.role ?? '',
            type: seLinux.type ?? '',
            level: seLinux.level ?? '',
          },
        }),
  }
}

const groupsOf = (context: Partial<PodSecurityContext> | undefined): readonly number[] => [
  ...(context?.supplementalGroups ?? []).map(Number),
  ...(context?.fsGroup === undefined ? [] : [context.fsGroup]),
]

const userOf = (
  user: number | undefined,
  { uid, username }: Pick<RuntimeImage, 'uid' | 'username'>,
): Pick<ContainerSecurity, 'runAsUser' | 'runAsUsername'> => {
  if (user !== undefined) return { runAsUser: user }
  return uid === undefined && username !== '' ? { runAsUsername: username } : {}
}

/** Throws when runAsNonRoot is set and the user is root or cannot be verified to be another one. */
function rejectRoot(
  name: string,
  runAsNonRoot: boolean,
  user: number | undefined,
  { uid, username }: Pick<RuntimeImage, 'uid' | 'username'>,
): void {
  if (!runAsNonRoot) return
  if (user === 0) throw new ConfigError(`container's runAsUser breaks non-root policy (pod: "", container: ${name})`)
  if (user !== undefined) return
  if (uid === undefined)
    throw new ConfigError(
      `container has runAsNonRoot and image has non-numeric user (${username}), cannot verify user is non-root`,
    )
  if (uid === 0) throw new ConfigError('container has runAsNonRoot and image will run as root')
}

const profile = <Name extends 'seccomp' | 'appArmor'>(
  name: Name,
  of: SeccompProfile | AppArmorProfile | undefined,
): Partial<Record<Name, SecurityProfile>> => {
  if (of === undefined) return {}
  const localhost = of.localhostProfile === undefined ? {} : { localhost: of.localhostProfile }
  return { [name]: { type: of.type, ...localhost } } as Partial<Record<Name, SecurityProfile>>
}
