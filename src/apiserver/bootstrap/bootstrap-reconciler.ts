// BootstrapReconciler: keeps bootstrap objects, and conditions that depend on other objects, as they must be. It is a
// loop of the API server itself, for what must work without a controller manager.
import type { Clock } from '../../base/time/clock.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import { unlessAborted } from '../../base/async/unless-aborted.ts'
import type { Kind } from '../../api/kind/kind.ts'
import type { BootstrapObject } from './bootstrap-object.ts'
import type { CacheObserver, ObjectLister } from '../watch-cache/object-caches.ts'

export interface BootstrapReconciler {
  readonly name: string
  /** A change of one of these kinds runs the reconciler. */
  readonly kinds: readonly Kind[]
  /** The objects that must exist, given the present state. */
  desired(lister: ObjectLister, nowMs: number): readonly BootstrapObject[]
}

/** What a reconciler needs of the registry. */
export interface ReconciledRegistry {
  readonly lister: ObjectLister
  observe(kind: Kind, observer: CacheObserver): void
  commitBootstrapObjects(objects: readonly BootstrapObject[], signal: AbortSignal): Promise<void>
}

const retryMs = 10_000

/** Reconciles after each change, until the signal. */
export async function runReconciler(
  { name, kinds, desired }: BootstrapReconciler,
  registry: ReconciledRegistry,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
  signal: AbortSignal,
): Promise<void> {
  let changed = Promise.withResolvers<void>()
  for (const kind of kinds) registry.observe(kind, { changed: () => changed.resolve() })
  for (;;)
    try {
      await unlessAborted(changed.promise, signal)
      changed = Promise.withResolvers()
      await registry.commitBootstrapObjects(desired(registry.lister, clock.nowMs()), signal)
    } catch (error) {
      if (signal.aborted) return
      log.error('bootstrap objects could not be reconciled', { reconciler: name, error: errorText(error) })
      changed.resolve()
      await clock.sleep(retryMs, signal).catch(() => {}) // the loop checks the signal
    }
}
