// until: waits for a condition on something outside this process, which only looking again can tell.
import { realClock } from '../src/base/clock.ts'

const lookEveryMs = 5
const { signal } = new AbortController()

export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await realClock.sleep(lookEveryMs, signal)
}
