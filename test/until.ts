// until: waits for a condition on something outside this process, which only looking again can tell.
import { realClock } from '../src/base/time/clock.ts'

const pollEveryMs = 5
/** Many times what a busy machine needs, and less than a test may take: who waits in vain says for what. */
const pollMsMax = 240_000
const { signal } = new AbortController()

export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const endMs = realClock.monotonicMs() + pollMsMax
  while (!(await condition())) {
    if (realClock.monotonicMs() > endMs) throw new Error(`it did not come true: ${String(condition)}`)
    await realClock.sleep(pollEveryMs, signal)
  }
}

/** Reads until a pattern is found; returns what was read. Events, for one, are written after what they are about. */
export async function untilMatch(read: () => Promise<string>, pattern: RegExp): Promise<string> {
  let seen = ''
  const isFound = async () => pattern.test((seen = await read()))
  await until(isFound).catch((error: unknown) => {
    throw new Error(`${pattern} is not in: ${seen}`, { cause: error })
  })
  return seen
}
