// The value of the Date header, computed once a second.
import type { Clock } from '../../base/time/clock.ts'

export function httpDate(clock: Clock): () => string {
  let second = NaN
  let text = ''
  return () => {
    const now = Math.floor(clock.nowMs() / 1000)
    if (now !== second) [second, text] = [now, new Date(now * 1000).toUTCString()]
    return text
  }
}
