// The addresses of Services of the cluster that a node has joined.
import { context } from '../../base/observability/context.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import type { Clock } from '../../base/time/clock.ts'
import { hasReason } from '../../api/errors/status-error.ts'
import { serviceCidr } from '../../api/networking/v1/service-cidr.ts'
import { serviceRangesDefault } from '../../apiserver/strategies/service/service-ranges.ts'
import type { Client } from '../../client/client.ts'

const retryMs = 1_000

/** Those of its ServiceCIDRs; waits until they can be read. An API server older than v1.33 has none: the default range. */
export async function clusterServiceRanges(
  client: Client,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
  signal: AbortSignal,
): Promise<readonly string[]> {
  for (;;)
    try {
      const { items } = await client.of(serviceCidr).list({}, context(signal))
      const ranges = [...new Set(items.flatMap(({ spec }) => spec?.cidrs ?? []))]
      if (ranges.length > 0) return ranges
      log.debug('the cluster has no ranges of Services yet')
      await clock.sleep(retryMs, signal)
    } catch (error) {
      signal.throwIfAborted()
      if (hasReason(error, 'NotFound')) return serviceRangesDefault.clusterCidrs
      log.warn('the ranges of Services cannot be read', { error: errorText(error) })
      await clock.sleep(retryMs, signal)
    }
}
