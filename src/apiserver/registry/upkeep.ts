// Upkeep: first objects that come back when they are deleted, and what objects tell of one another, without a controller:
// what the API server itself cannot do without.
import type { Clock } from '../../base/clock.ts'
import { errorText, type Log } from '../../base/log.ts'
import { unlessAborted } from '../../base/unless-aborted.ts'
import type { Kind } from '../../api/kind.ts'
import type { Registry } from './registry.ts'
import type { Seed } from './seed.ts'
import type { RegistryReads } from './strategy.ts'

export interface Upkeep {
  readonly name: string
  /** A change of one of these, and it is looked at again. */
  readonly kinds: readonly Kind[]
  /** What there must be, as things are now. */
  seeds(reads: RegistryReads, nowMs: number): readonly Seed[]
}

const retryMs = 10_000

/** Looks whenever something has changed, until the signal. */
export async function keepUp(
  { name, kinds, seeds }: Upkeep,
  registry: Registry,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
  signal: AbortSignal,
): Promise<void> {
  let woken = Promise.withResolvers<void>()
  for (const kind of kinds) registry.observe(kind, { changed: () => woken.resolve() })
  for (;;)
    try {
      await unlessAborted(woken.promise, signal)
      woken = Promise.withResolvers()
      await registry.seed(seeds(registry.reads, clock.nowMs()), signal)
    } catch (error) {
      if (signal.aborted) return
      log.error('first objects could not be kept up', { upkeep: name, error: errorText(error) })
      woken.resolve()
      await clock.sleep(retryMs, signal).catch(() => {}) // the end is seen at the next turn
    }
}
