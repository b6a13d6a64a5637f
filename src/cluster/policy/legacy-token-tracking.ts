// Tracks legacy tokens (in Secrets): since when they are tracked, and the last use of each, for their cleanup.
import type { Context } from '../../base/observability/context.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import { lastUsedLabel, trackingConfigMap } from '../../api/core/v1/account-token-secret.ts'
import { configMap } from '../../api/core/v1/config-map.ts'
import { secret } from '../../api/core/v1/secret.ts'
import { splitKey } from '../../api/meta/object.ts'
import { hasReason } from '../../api/errors/status-error.ts'
import type { LegacyTokenUsage } from '../../apiserver/authentication/legacy-token-usage.ts'
import type { Client } from '../../client/client.ts'

/** Writes recorded uses until the signal is aborted. */
export async function trackLegacyTokens(
  client: Client,
  uses: LegacyTokenUsage,
  log: Log,
  context: Context,
): Promise<void> {
  await startTracking(client, uses.today, context)
  const { queue } = uses
  for (let work = await queue.take(context.signal); work !== undefined; work = await queue.take(context.signal)) {
    const { key } = work
    const { namespace, name } = splitKey(key)
    const patch = { metadata: { labels: { [lastUsedLabel]: uses.today } } }
    try {
      await client.of(secret).patch(name, namespace, patch, 'merge', context)
      queue.forget(key)
    } catch (error) {
      context.signal.throwIfAborted()
      if (!hasReason(error, 'NotFound')) {
        log.warn('the use of a token could not be recorded', { secret: key, error: errorText(error) })
        queue.retry(key, work.cause)
      }
    } finally {
      queue.done(key)
    }
  }
}

/** Writes the start date once. An invalid or future date is replaced. */
async function startTracking(client: Client, today: string, context: Context): Promise<void> {
  const { namespace, name } = splitKey(trackingConfigMap)
  const maps = client.of(configMap)
  const data = { since: today }
  const found = await maps.find(name, namespace, context)
  if (found === undefined)
    await maps.create({ metadata: { name }, data }, namespace, context).catch((error: unknown) => {
      if (!hasReason(error, 'AlreadyExists')) throw error
    })
  else if (!isPastDay(found.data?.['since'], today)) await maps.update({ ...found, data }, context)
}

const isPastDay = (day: string | undefined, today: string): boolean =>
  day !== undefined && /^\d{4}-\d\d-\d\d$/.test(day) && day <= today
