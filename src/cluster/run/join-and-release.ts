// The end of a component with leader election: its tasks, and then its lease.
import type { TaskGroup } from '../../base/async/task-group.ts'
import type { Clock } from '../../base/time/clock.ts'

/** Time limit for releasing the lease. */
const releaseMs = 2_000

/** Runs until the tasks end, then releases the lease, so that the next leader need not wait. */
export async function joinAndRelease(
  tasks: TaskGroup,
  lease: { release(signal: AbortSignal): Promise<void> },
  clock: Clock,
): Promise<void> {
  try {
    await tasks.join()
  } finally {
    const bound = new AbortController()
    const timer = clock.after(releaseMs, () => bound.abort())
    await lease.release(bound.signal).catch(() => undefined)
    timer.cancel()
  }
}
