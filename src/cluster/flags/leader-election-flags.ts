// The flags of leader election, with upstream's names.
import { durationMs } from '../../apiserver/config/config-reader.ts'
import type { LeaseSettings } from '../../client/leader-election.ts'

export const leaderElectionFlags = {
  'leader-elect': { type: 'string', value: 'true|false', help: 'acts only while it is the leader (true)' },
  'leader-elect-lease-duration': {
    type: 'string',
    value: '<time>',
    help: 'how long others wait before they replace a leader (15s)',
  },
  'leader-elect-renew-deadline': {
    type: 'string',
    value: '<time>',
    help: 'how long a leader tries to renew its lease (10s)',
  },
  'leader-elect-retry-period': { type: 'string', value: '<time>', help: 'the time between two attempts (2s)' },
  'leader-elect-resource-name': { type: 'string', value: '<name>', help: 'the name of the Lease' },
  'leader-elect-resource-namespace': { type: 'string', value: '<namespace>', help: 'its namespace (kube-system)' },
} as const

export type LeaderElectionFlagValues = Readonly<Partial<Record<keyof typeof leaderElectionFlags, string>>>

/** As upstream: the renew deadline must exceed the retry period by this factor. */
const jitter = 1.2

/** Throws on an invalid flag. */
export function leaseSettingsOf(flags: LeaderElectionFlagValues, name: string): LeaseSettings | 'none' {
  const isOn = flags['leader-elect'] ?? 'true'
  if (isOn !== 'true' && isOn !== 'false')
    throw new Error(`--leader-elect ${JSON.stringify(isOn)} is neither true nor false`)
  const time = (flag: keyof typeof leaderElectionFlags, fallbackMs: number): number => {
    const text = flags[flag]
    const ms = text === undefined ? fallbackMs : durationMs(text)
    if (ms === undefined || ms < 1_000) throw new Error(`--${flag} ${JSON.stringify(text)} is not a second or more`)
    return ms
  }
  const leaseMs = time('leader-elect-lease-duration', 15_000)
  const renewMs = time('leader-elect-renew-deadline', 10_000)
  const retryMs = time('leader-elect-retry-period', 2_000)
  if (leaseMs <= renewMs)
    throw new Error('--leader-elect-lease-duration must be more than --leader-elect-renew-deadline')
  if (renewMs <= jitter * retryMs)
    throw new Error(`--leader-elect-renew-deadline must be more than ${jitter} times --leader-elect-retry-period`)
  if (isOn === 'false') return 'none'
  return {
    name: flags['leader-elect-resource-name'] ?? name,
    namespace: flags['leader-elect-resource-namespace'] ?? 'kube-system',
    leaseMs,
    renewMs,
    retryMs,
  }
}
