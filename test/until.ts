// until: waits for a condition outside this process, which can only be polled.
import { realClock } from '../src/base/time/clock.ts'

const pollEveryMs = 5
/** Far longer than a busy machine needs, and less than the timeout of a test, so that the error names the condition. */
const pollMsMax = 240_000
const { signal } = new AbortController()

export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const endMs = realClock.monotonicMs() + pollMsMax
  while (!(await condition())) {
    if (realClock.monotonicMs() > endMs) throw new Error(`it did not come true: ${String(condition)}`)
    await realClock.sleep(pollEveryMs, signal)
  }
}

/**
 * Reads until a pattern matches; returns the text. Events, for example, are written after the change that they
 * describe.
 */
export async function untilMatch(read: () => Promise<string>, pattern: RegExp): Promise<string> {
  let seen = ''
  const isFound = async () => pattern.test((seen = await read()))
  await until(isFound).catch((error: unknown) => {
    throw new Error(`${pattern} is not in: ${seen}`, { cause: error })
  })
  return seen
}
