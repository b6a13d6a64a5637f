// A clock that runs faster than real time: minutes of waiting take seconds, while kubectl uses real time.
import { realClock, sleepOn, type Clock } from '../../src/base/time/clock.ts'

export function scaledClock(factor: number): Clock {
  const startMs = realClock.nowMs()
  const clock: Clock = {
    nowMs: () => startMs + (realClock.nowMs() - startMs) * factor,
    cpuMs: () => clock.monotonicMs(),
    monotonicMs: () => realClock.monotonicMs() * factor,
    sleep: (ms, signal) => sleepOn(clock, ms, signal),
    after: (ms, callback) => realClock.after(ms / factor, callback),
    outside: (operation) => operation,
  }
  return clock
}
