// The steps of virtual time that the web page offers: a duration, or the time until something happens.
import type { VirtualClock } from '../../base/time/virtual-clock.ts'

/** The id of the newest event of the flow record. */
interface Recorded {
  readonly last: number
}

/** Advances the time, and returns it. The requests of the page that asks are events, too: only those after now are the next. */
export async function stepClock(step: number | 'next', clock: VirtualClock, flow: Recorded): Promise<number> {
  if (step !== 'next') {
    await clock.advance(step)
    return clock.nowMs()
  }
  const beforeMs = clock.nowMs()
  let last = 0
  await clock.runUntil(() => {
    if (clock.nowMs() > beforeMs) return flow.last > last
    ;({ last } = flow)
    return false
  })
  return clock.nowMs()
}
