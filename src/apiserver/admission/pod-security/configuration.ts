// PodSecurityConfiguration: what holds where a namespace says nothing, and for whom nothing holds.
import type { ConfigReader } from '../../config-reader.ts'
import { levels, minorOf, modes, open, type Mode, type Policy } from './level.ts'

export interface PodSecurityConfiguration {
  readonly defaults: Readonly<Record<Mode, Policy>>
  readonly exemptions: {
    readonly usernames: readonly string[]
    readonly namespaces: readonly string[]
    readonly runtimeClasses: readonly string[]
  }
}

export const openConfiguration: PodSecurityConfiguration = {
  defaults: { enforce: open, audit: open, warn: open },
  exemptions: { usernames: [], namespaces: [], runtimeClasses: [] },
}

export function podSecurityConfiguration(file: ConfigReader): PodSecurityConfiguration {
  file.oneOf('apiVersion', ['pod-security.admission.config.k8s.io/v1'])
  file.oneOf('kind', ['PodSecurityConfiguration'])
  const defaults = file.object('defaults')
  const policies = modes.map((mode) => [mode, defaultOf(defaults, mode)] as const)
  defaults?.end()
  const exempt = file.object('exemptions')
  const exemptions = {
    usernames: exempt?.texts('usernames', []) ?? [],
    namespaces: exempt?.texts('namespaces', []) ?? [],
    runtimeClasses: exempt?.texts('runtimeClasses', []) ?? [],
  }
  exempt?.end()
  file.end()
  return { defaults: Object.fromEntries(policies) as Record<Mode, Policy>, exemptions }
}

function defaultOf(defaults: ConfigReader | undefined, mode: Mode): Policy {
  if (defaults === undefined) return open
  const version = defaults.text(`${mode}-version`, 'latest')
  const minor = minorOf(version)
  if (minor === undefined) throw defaults.error(`${mode}-version`, 'must be "latest" or "v1.x"')
  return { level: defaults.oneOf(mode, levels, 'privileged'), minor }
}
