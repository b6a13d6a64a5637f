// The flags of a controller manager in its own process, with upstream's names.
import { durationMs } from '../../apiserver/config/config-reader.ts'
import type { LeaseSettings } from '../../client/leader-election.ts'
import { controllerFlags, controllerSettingsOf, type ControllerFlagSettings } from './controller-flags.ts'
import { leaderElectionFlags, leaseSettingsOf, type LeaderElectionFlagValues } from './leader-election-flags.ts'

const portDefault = '10257'
const cleanUpPeriodDefault = '8760h'

export const controllerManagerFlags = {
  'bind-address': { type: 'string', value: '<address>', help: 'the address of /healthz and /metrics (127.0.0.1)' },
  'secure-port': {
    type: 'string',
    value: '<port>',
    help: `the port of /healthz and /metrics; 0 serves neither (${portDefault})`,
  },
  'use-service-account-credentials': {
    type: 'string',
    value: 'true|false',
    help: 'each controller uses its own ServiceAccount (true)',
  },
  'service-account-private-key-file': {
    type: 'string',
    value: '<file>',
    help: 'the key that signs ServiceAccount token Secrets; without it none is created',
  },
  'root-ca-file': {
    type: 'string',
    value: '<file>',
    help: 'the CA that pods get to verify the API server (the CA of the kubeconfig)',
  },
  'legacy-service-account-token-clean-up-period': {
    type: 'string',
    value: '<time>',
    help: `how long a ServiceAccount token Secret may be unused (${cleanUpPeriodDefault})`,
  },
  ...controllerFlags,
  ...leaderElectionFlags,
} as const

export type ControllerManagerFlagValues = LeaderElectionFlagValues &
  Readonly<Partial<Record<keyof typeof controllerManagerFlags, string>>>

export interface ControllerManagerSettings {
  /** Where health and metrics are served; nowhere when omitted. */
  readonly serve?: { readonly host: string; readonly port: number }
  readonly hasAccounts: boolean
  readonly legacyTokenCleanUpMs: number
  readonly controllerSettings: ControllerFlagSettings
  /** Without leader election it acts at once. */
  readonly lease: LeaseSettings | 'none'
}

/** Parses the flags. Throws on an invalid value. */
export function controllerManagerSettings(flags: ControllerManagerFlagValues): ControllerManagerSettings {
  const { 'bind-address': host = '127.0.0.1', 'secure-port': portText = portDefault } = flags
  const port = Number(portText)
  if (!/^\d+$/.test(portText) || port > 65_535)
    throw new Error(`--secure-port ${JSON.stringify(portText)} is not a number from 0 to 65535`)
  const hasAccounts = flags['use-service-account-credentials'] ?? 'true'
  if (hasAccounts !== 'true' && hasAccounts !== 'false')
    throw new Error(`--use-service-account-credentials ${JSON.stringify(hasAccounts)} is neither true nor false`)
  const period = flags['legacy-service-account-token-clean-up-period'] ?? cleanUpPeriodDefault
  const legacyTokenCleanUpMs = durationMs(period)
  if (legacyTokenCleanUpMs === undefined || legacyTokenCleanUpMs === 0)
    throw new Error(
      `--legacy-service-account-token-clean-up-period ${JSON.stringify(period)} is not a duration such as 24h`,
    )
  return {
    ...(port === 0 ? {} : { serve: { host, port } }),
    hasAccounts: hasAccounts === 'true',
    legacyTokenCleanUpMs,
    controllerSettings: controllerSettingsOf(flags),
    lease: leaseSettingsOf(flags, 'kube-controller-manager'),
  }
}
