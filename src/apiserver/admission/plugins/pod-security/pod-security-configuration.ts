// PodSecurityConfiguration: the defaults for namespaces without labels, and the exemptions.
import type { ConfigReader } from '../../../config/config-reader.ts'
import { levels, minorOf, modes, privilegedPolicy, type Mode, type Policy } from './pod-security-level.ts'

export interface PodSecurityConfiguration {
  readonly defaults: Readonly<Record<Mode, Policy>>
  readonly exemptions: {
    readonly usernames: readonly string[]
    readonly namespaces: readonly string[]
    readonly runtimeClasses: readonly string[]
  }
}

export const privilegedConfiguration: PodSecurityConfiguration = {
  defaults: { enforce: privilegedPolicy, audit: privilegedPolicy, warn: privilegedPolicy },
  exemptions: { usernames: [], namespaces: [], runtimeClasses: [] },
}

export function podSecurityConfiguration(file: ConfigReader): PodSecurityConfiguration {
  file.oneOf('apiVersion', ['pod-security.admission.config.k8s.io/v1'])
  file.oneOf('kind', ['PodSecurityConfiguration'])
  const defaults = file.object('defaults')
  const policies = modes.map((mode) => [mode, defaultOf(defaults, mode)] as const)
  defaults?.rejectUnknownFields()
  const exempt = file.object('exemptions')
  const exemptions = {
    usernames: exempt?.strings('usernames', []) ?? [],
    namespaces: exempt?.strings('namespaces', []) ?? [],
    runtimeClasses: exempt?.strings('runtimeClasses', []) ?? [],
  }
  exempt?.rejectUnknownFields()
  file.rejectUnknownFields()
  return { defaults: Object.fromEntries(policies) as Record<Mode, Policy>, exemptions }
}

function defaultOf(defaults: ConfigReader | undefined, mode: Mode): Policy {
  if (defaults === undefined) return privilegedPolicy
  const version = defaults.string(`${mode}-version`, 'latest')
  const minor = minorOf(version)
  if (minor === undefined) throw defaults.error(`${mode}-version`, 'must be "latest" or "v1.x"')
  return { level: defaults.oneOf(mode, levels, 'privileged'), minor }
}
