// The contract suite of shutdown drivers.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import type { HostShutdown } from './host-shutdown.ts'

export interface ShutdownUnderTest extends AsyncDisposable {
  readonly shutdown: HostShutdown
  /** Starts or cancels a shutdown. */
  announce(isShuttingDown: boolean): void
  /** Resolves when a shutdown would be delayed, or would not. */
  isDelayed(wanted: boolean): Promise<void>
}

export const shutdownDelayMs = 30_000

export function shutdownContract(driver: string, open: () => Promise<ShutdownUnderTest>): void {
  test(`${driver}: a shutdown is delayed while a listener handles it, and the next one after a cancellation, too`, async () => {
    await using under = await open()
    const calls: string[] = []
    const started = Promise.withResolvers<void>()
    const done = Promise.withResolvers<void>()
    const cancelled = Promise.withResolvers<void>()
    const ready = Promise.withResolvers<void>()
    const end = new AbortController()
    const listener = {
      onShutdown: async () => {
        calls.push('shutdown')
        started.resolve()
        await done.promise
      },
      onCancelled: async () => {
        calls.push('called off')
        cancelled.resolve()
        await Promise.resolve()
      },
    }
    const listening = under.shutdown.listen(shutdownDelayMs, listener, ready.resolve, end.signal)
    await Promise.race([ready.promise, listening])
    await under.isDelayed(true)
    under.announce(true)
    await started.promise
    await under.isDelayed(true)
    done.resolve()
    await under.isDelayed(false)
    under.announce(false)
    await cancelled.promise
    await under.isDelayed(true)
    deepEqual(calls, ['shutdown', 'called off'])
    end.abort(new Error('over'))
    equal(await listening.catch((error: unknown) => (error as Error).message), 'over')
    await under.isDelayed(false)
  })
}
