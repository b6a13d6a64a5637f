// Flags that have no effect without another one. Such a command line is rejected, so that a user does not assume, for
// example, that an audit log is written.
import { lookup } from '../../base/collections/lookup.ts'

/** Each flag, and those of which at least one must be given with it. */
const neededFlags: readonly [flag: RegExp, needs: readonly string[]][] = [
  [/^audit-policy-file$/, ['audit-log-path', 'audit-webhook-config-file']],
  [/^audit-(log-path|webhook-config-file)$/, ['audit-policy-file']],
  [/^audit-log-truncate-max-/, ['audit-log-truncate-enabled']],
  [/^audit-log-/, ['audit-log-path']],
  [/^audit-webhook-truncate-max-/, ['audit-webhook-truncate-enabled']],
  [/^audit-webhook-/, ['audit-webhook-config-file']],
  [/^authentication-token-webhook-(cache-ttl|version)$/, ['authentication-token-webhook-config-file']],
  [/^authorization-(policy-file|webhook-config-file)$/, ['authorization-mode']],
  [/^authorization-webhook-/, ['authorization-webhook-config-file']],
  [/^discovery-token-ca-cert-hash$/, ['token', 'token-file']],
  [/^encryption-provider-config-automatic-reload$/, ['encryption-provider-config']],
  [/^etcd-/, ['store']],
  [/^eviction-(soft-grace-period|max-pod-grace-period)$/, ['eviction-soft']],
  [/^http-check-frequency$/, ['manifest-url']],
  [/^oidc-groups-prefix$/, ['oidc-groups-claim']],
  [/^oidc-/, ['oidc-issuer-url']],
  [/^server$/, ['token', 'token-file']],
  [/^shutdown-grace-period-critical-pods$/, ['shutdown-grace-period']],
  [/^token(-file)?$/, ['server']],
  [/^wait$/, ['detach']],
  [/^wait-timeout$/, ['wait']],
]

/** One message for each given flag that has no effect. Only flags of the command itself are required. */
export function flagsWithoutEffect(
  options: Readonly<Record<string, unknown>>,
  given: Readonly<Record<string, unknown>>,
): string[] {
  // A configuration file can contain what a flag needs.
  if (given['config'] !== undefined) return []
  return Object.keys(given).flatMap((flag) => {
    const [, needs = []] = neededFlags.find(([pattern, needed]) => pattern.test(flag) && !needed.includes(flag)) ?? []
    const known = needs.filter((need) => Object.hasOwn(options, need))
    if (known.length === 0 || known.some((need) => lookup(given, need) !== undefined)) return []
    return [`--${flag} has no effect without ${known.map((need) => `--${need}`).join(' or ')}`]
  })
}
