// pauseIfDue: lets other work run between the steps of controllers. A step that only reads caches, or calls the API server
// of the same process, does not wait for anything, so thousands of them would run in one turn of the event loop.
import { onNextTurn } from '../../base/async/event-loop-turn.ts'
import type { MaybePromise } from '../../base/async/maybe-promise.ts'
import type { Clock } from '../../base/time/clock.ts'
import { WorkSlice } from '../../base/work/work-slice.ts'

/** The time slice of the current turn of the event loop; all controllers of a clock share it. */
const slices = new WeakMap<Clock, WorkSlice>()

/** Waits for the next turn if the controllers have used up their time in this one; synchronous otherwise. */
export function pauseIfDue(clock: Clock): MaybePromise<void> {
  let slice = slices.get(clock)
  if (slice === undefined) {
    slice = new WorkSlice(clock)
    slices.set(clock, slice)
    onNextTurn(() => slices.delete(clock))
  }
  return slice.isUsedUp() ? slice.next() : undefined
}
