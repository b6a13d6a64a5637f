// Upkeep: first objects that come back when they are deleted, and what objects tell of one another, without a controller:
// what the API server itself cannot do without.
import type { Clock } from '../../base/time/clock.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import { unlessAborted } from '../../base/async/unless-aborted.ts'
import type { Kind } from '../../api/kind/kind.ts'
import type { BootstrapObject } from './bootstrap-object.ts'
import type { CacheObserver, ObjectLister } from '../watch-cache/object-caches.ts'

export interface BootstrapReconciler {
  readonly name: string
  /** A change of one of these, and it is looked at again. */
  readonly kinds: readonly Kind[]
  /** What there must be, as things are now. */
  desired(lister: ObjectLister, nowMs: number): readonly BootstrapObject[]
}

/** What a reconciler needs of the registry. */
export interface ReconciledRegistry {
  readonly lister: ObjectLister
  observe(kind: Kind, observer: CacheObserver): void
  commitBootstrapObjects(objects: readonly BootstrapObject[], signal: AbortSignal): Promise<void>
}

const retryMs = 10_000

/** Looks whenever something has changed, until the signal. */
export async function runReconciler(
  { name, kinds, desired: seeds }: BootstrapReconciler,
  registry: ReconciledRegistry,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
  signal: AbortSignal,
): Promise<void> {
  let woken = Promise.withResolvers<void>()
  for (const kind of kinds) registry.observe(kind, { changed: () => woken.resolve() })
  for (;;)
    try {
      await unlessAborted(woken.promise, signal)
      woken = Promise.withResolvers()
      await registry.commitBootstrapObjects(seeds(registry.lister, clock.nowMs()), signal)
    } catch (error) {
      if (signal.aborted) return
      log.error('first objects could not be kept up', { upkeep: name, error: errorText(error) })
      woken.resolve()
      await clock.sleep(retryMs, signal).catch(() => {}) // the end is seen at the next turn
    }
}
