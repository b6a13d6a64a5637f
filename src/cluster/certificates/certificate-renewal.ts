// Renews certificates while the cluster runs: when a third of their lifetime is left, and when the addresses in the API
// server's certificate change.
import type { Clock } from '../../base/time/clock.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import type { ClusterCertificates } from './cluster-certificates.ts'
import { renewalMs } from './pki-directory.ts'

export interface RenewalDeps {
  readonly clock: Clock
  readonly log: Log
  /** The names and addresses that the server's certificate must contain now. */
  readonly hosts: () => readonly string[]
  /** Issues certificates for these hosts and uses them; valid ones are reused. */
  readonly renew: (hosts: readonly string[]) => Promise<ClusterCertificates>
}

/** How often the addresses are checked. */
const checkMs = 60_000

/** The first certificate that must be renewed, and when. */
function firstRenewal({ serving, admin, components }: ClusterCertificates): {
  readonly name: string
  readonly atMs: number
} {
  const all = Object.entries({ apiserver: serving, admin, ...components })
  const times = all.map(([name, { certificate }]) => ({ name, atMs: renewalMs(certificate) }))
  return times.reduce((first, one) => (one.atMs < first.atMs ? one : first))
}

/** Runs until the signal is aborted. A failed renewal is retried with the next check. */
export async function renewCertificates(
  first: { readonly certificates: ClusterCertificates; readonly hosts: readonly string[] },
  { clock, log, hosts: hostsNow, renew }: RenewalDeps,
  signal: AbortSignal,
): Promise<void> {
  let due = firstRenewal(first.certificates)
  let named = first.hosts
  for (;;) {
    await clock.sleep(checkMs, signal)
    const hosts = hostsNow()
    const added = hosts.filter((host) => !named.includes(host))
    const isOld = clock.nowMs() > due.atMs
    if (added.length === 0 && !isOld) continue
    const why = isOld ? `${due.name}: less than a third of its life is left` : `reached at ${added.join(', ')} now`
    try {
      const fresh = await renew(hosts)
      ;[due, named] = [firstRenewal(fresh), hosts]
      log.info('certificates were renewed', { why })
    } catch (error) {
      log.error('certificates could not be renewed; tried again in a minute', { why, error: errorText(error) })
    }
  }
}
