// The baseline level: rejects known ways from a pod to its node.
import type { SELinuxOptions } from '../../../../api/core/v1/container/security-context.ts'
import {
  containersText,
  quoted,
  settersText,
  type AnyContainer,
  type Check,
  type CheckedPod,
} from './pod-security-check.ts'

const allowedCapabilities = new Set([
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'MKNOD',
  'NET_BIND_SERVICE',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
])

const seLinuxTypes = new Set(['', 'container_t', 'container_init_t', 'container_kvm_t'])
const engineSince = 31

/** Sysctls that affect only the pod, by the version of the standard that first allows them. */
const sysctlsSince: ReadonlyMap<string, number> = new Map([
  ['kernel.shm_rmid_forced', 0],
  ['net.ipv4.ip_local_port_range', 0],
  ['net.ipv4.tcp_syncookies', 0],
  ['net.ipv4.ping_group_range', 0],
  ['net.ipv4.ip_unprivileged_port_start', 0],
  ['net.ipv4.ip_local_reserved_ports', 27],
  ['net.ipv4.tcp_keepalive_time', 29],
  ['net.ipv4.tcp_fin_timeout', 29],
  ['net.ipv4.tcp_keepalive_intvl', 29],
  ['net.ipv4.tcp_keepalive_probes', 29],
  ['net.ipv4.tcp_rmem', 32],
  ['net.ipv4.tcp_wmem', 32],
])

const appArmorAnnotation = 'container.apparmor.security.beta.kubernetes.io/'

const appArmorProfile: Check = {
  id: 'appArmorProfile',
  check({ metadata, spec, containers }) {
    const isForbidden = (type: string | undefined) => type === 'Unconfined'
    const isPod = isForbidden(spec.securityContext?.appArmorProfile?.type)
    const setting = containers.filter(({ securityContext }) => isForbidden(securityContext?.appArmorProfile?.type))
    const annotated = Object.entries(metadata.annotations ?? {})
      .filter(
        ([key, value]) =>
          key.startsWith(appArmorAnnotation) &&
          value !== '' &&
          value !== 'runtime/default' &&
          !value.startsWith('localhost/'),
      )
      .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    const set =
      isPod || setting.length > 0
        ? [`${settersText(isPod, setting)} must not set AppArmor profile type to "Unconfined"`]
        : []
    const details = [...set, ...annotated.toSorted()]
    if (details.length === 0) return undefined
    const plural = annotated.length > 1 || (annotated.length === 1 && set.length > 0) ? 's' : ''
    return { reason: `forbidden AppArmor profile${plural}`, detail: details.join(', ') }
  },
}

const capabilities: Check = {
  id: 'capabilities_baseline',
  check({ containers }) {
    const added = ({ securityContext }: AnyContainer) =>
      (securityContext?.capabilities?.add ?? []).filter((name) => !allowedCapabilities.has(name))
    const setting = containers.filter((container) => added(container).length > 0)
    if (setting.length === 0) return undefined
    const names = [...new Set(setting.flatMap(added))].toSorted()
    const detail = `${containersText(setting)} must not include ${quoted(names)} in securityContext.capabilities.add`
    return { reason: 'non-default capabilities', detail }
  },
}

const hostNamespaces: Check = {
  id: 'hostNamespaces',
  check({ spec }) {
    const used = (['hostNetwork', 'hostPID', 'hostIPC'] as const).filter((field) => spec[field])
    if (used.length === 0) return undefined
    return { reason: 'host namespaces', detail: used.map((field) => `${field}=true`).join(', ') }
  },
}

const hostPathVolumes: Check = {
  id: 'hostPathVolumes',
  check({ spec }) {
    const used = (spec.volumes ?? []).filter(({ hostPath }) => hostPath !== undefined).map(({ name }) => name)
    if (used.length === 0) return undefined
    return { reason: 'hostPath volumes', detail: `${used.length === 1 ? 'volume' : 'volumes'} ${quoted(used)}` }
  },
}

const hostPorts: Check = {
  id: 'hostPorts',
  check({ containers }) {
    const portsOf = ({ ports = [] }: AnyContainer) =>
      ports.map(({ hostPort = 0 }) => hostPort).filter((port) => port > 0)
    const using = containers.filter((container) => portsOf(container).length > 0)
    if (using.length === 0) return undefined
    const ports = [...new Set(using.flatMap(portsOf))].map(String).toSorted()
    const verb = using.length === 1 ? 'uses' : 'use'
    const noun = ports.length === 1 ? 'hostPort' : 'hostPorts'
    return { reason: 'hostPort', detail: `${containersText(using)} ${verb} ${noun} ${ports.join(', ')}` }
  },
}

function hostsOf({ livenessProbe, readinessProbe, startupProbe, lifecycle }: AnyContainer): string[] {
  const handlers = [livenessProbe, readinessProbe, startupProbe, lifecycle?.postStart, lifecycle?.preStop]
  return handlers
    .flatMap((handler) => [handler?.httpGet?.host, handler?.tcpSocket?.host])
    .filter((host) => host !== undefined)
    .filter((host) => host !== '')
}

const hostProbes: Check = {
  id: 'hostProbesAndHostLifecycle',
  since: 34,
  check({ containers }) {
    const using = containers.filter((container) => hostsOf(container).length > 0)
    if (using.length === 0) return undefined
    const hosts = [...new Set(using.flatMap(hostsOf))].toSorted()
    const sorted = using.toSorted((a, b) => (a.name < b.name ? -1 : 1))
    const verb = using.length === 1 ? 'uses' : 'use'
    const noun = hosts.length === 1 ? 'probe or lifecycle host' : 'probe or lifecycle hosts'
    return { reason: 'probe or lifecycle host', detail: `${containersText(sorted)} ${verb} ${noun} ${quoted(hosts)}` }
  },
}

const privileged: Check = {
  id: 'privileged',
  check({ containers }) {
    const setting = containers.filter(({ securityContext }) => securityContext?.privileged)
    if (setting.length === 0) return undefined
    return { reason: 'privileged', detail: `${containersText(setting)} must not set securityContext.privileged=true` }
  },
}

const procMount: Check = {
  id: 'procMount',
  check({ containers, spec }, minor) {
    // A pod with its own user namespace may have an unmasked /proc.
    if (minor >= 35 && spec.hostUsers === false) return undefined
    const setting = containers.filter(({ securityContext }) => (securityContext?.procMount ?? 'Default') !== 'Default')
    if (setting.length === 0) return undefined
    const kinds = [...new Set(setting.map(({ securityContext }) => securityContext?.procMount ?? ''))].toSorted()
    return {
      reason: 'procMount',
      detail: `${containersText(setting)} must not set securityContext.procMount to ${quoted(kinds)}`,
    }
  },
}

const seLinuxOptions: Check = {
  id: 'seLinuxOptions',
  check({ spec, containers }, minor) {
    const isForbiddenType = (type: string) =>
      !seLinuxTypes.has(type) && !(type === 'container_engine_t' && minor >= engineSince)
    const isForbidden = (options: SELinuxOptions | undefined) =>
      options !== undefined && (isForbiddenType(options.type ?? '') || Boolean(options.user) || Boolean(options.role))
    const own = spec.securityContext?.seLinuxOptions
    const setting = containers.filter(({ securityContext }) => isForbidden(securityContext?.seLinuxOptions))
    if (!isForbidden(own) && setting.length === 0) return undefined
    const all = [own, ...setting.map(({ securityContext }) => securityContext?.seLinuxOptions)]
    const types = [...new Set(all.map((options) => options?.type ?? '').filter(isForbiddenType))].toSorted()
    const what = [
      ...(types.length === 0 ? [] : [`${types.length === 1 ? 'type' : 'types'} ${quoted(types)}`]),
      ...(all.some((options) => options?.user) ? ['user may not be set'] : []),
      ...(all.some((options) => options?.role) ? ['role may not be set'] : []),
    ]
    const who = settersText(isForbidden(own), setting)
    return {
      reason: 'seLinuxOptions',
      detail: `${who} set forbidden securityContext.seLinuxOptions: ${what.join('; ')}`,
    }
  },
}

const seccompProfile: Check = {
  id: 'seccompProfile_baseline',
  since: 19,
  check({ spec, containers }) {
    const isPod = spec.securityContext?.seccompProfile?.type === 'Unconfined'
    const setting = containers.filter(({ securityContext }) => securityContext?.seccompProfile?.type === 'Unconfined')
    if (!isPod && setting.length === 0) return undefined
    return {
      reason: 'seccompProfile',
      detail: `${settersText(isPod, setting)} must not set securityContext.seccompProfile.type to "Unconfined"`,
    }
  },
}

const sysctls: Check = {
  id: 'sysctls',
  check({ spec }: CheckedPod, minor) {
    const forbidden = (spec.securityContext?.sysctls ?? [])
      .map(({ name }) => name)
      .filter((name) => (sysctlsSince.get(name) ?? Infinity) > minor || !sysctlsSince.has(name))
    return forbidden.length === 0 ? undefined : { reason: 'forbidden sysctls', detail: forbidden.join(', ') }
  },
}

const windowsHostProcess: Check = {
  id: 'windowsHostProcess',
  check({ spec, containers }) {
    const isPod = spec.securityContext?.windowsOptions?.hostProcess === true
    const setting = containers.filter(({ securityContext }) => securityContext?.windowsOptions?.hostProcess === true)
    if (!isPod && setting.length === 0) return undefined
    return {
      reason: 'hostProcess',
      detail: `${settersText(isPod, setting)} must not set securityContext.windowsOptions.hostProcess=true`,
    }
  },
}

export const baseline: readonly Check[] = [
  appArmorProfile,
  capabilities,
  hostNamespaces,
  hostPathVolumes,
  hostPorts,
  hostProbes,
  privileged,
  procMount,
  seLinuxOptions,
  seccompProfile,
  sysctls,
  windowsHostProcess,
]
