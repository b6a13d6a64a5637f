// Clock is the only source of time and timers. realClock uses the machine's time; virtual-clock.ts has the virtual
// clock. Code outside base/ never reads the wall clock and never sets a timer, because a single direct use breaks
// virtual time.
import { offAbort, onAbort } from '../async/on-abort.ts'
import { threadCpuMs } from './thread-cpu.ts'

export interface Clock {
  /** Wall time in milliseconds since the epoch. */
  nowMs(): number
  /** For durations: monotonic, and meaningless across processes. */
  monotonicMs(): number
  /** The CPU time that this thread has used. Other processes do not add to it. Reading it takes a microsecond. */
  cpuMs(): number
  /** Resolves after `ms`; rejects with the signal's reason when aborted first. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
  /** Calls back once after `ms`, unless cancelled. The callback must not throw. */
  after(ms: number, callback: () => void): Timer
  /**
   * Wraps an operation that waits for something outside of the process's clock (a socket, a disk). A virtual clock does
   * not advance while one is open.
   */
  outside<T>(operation: Promise<T>): Promise<T>
}

export interface Timer {
  cancel(): void
}

// setTimeout takes at most 32 bits; longer delays are split.
const timeoutMsMax = 2_147_483_647

/** Reading the global each time calls an accessor, which takes a third of the time of a reading. */
const { performance } = globalThis

export const realClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  cpuMs: threadCpuMs,
  sleep: (ms, signal) => sleepOn(realClock, ms, signal),
  after(ms, callback) {
    let handle: ReturnType<typeof setTimeout>
    const wait = (leftMs: number) => {
      const stepMs = Math.min(leftMs, timeoutMsMax)
      handle = setTimeout(() => (leftMs > stepMs ? wait(leftMs - stepMs) : callback()), stepMs)
    }
    wait(Math.max(0, ms))
    return { cancel: () => clearTimeout(handle) }
  },
  outside: (operation) => operation,
}

/** Implements sleep with `after`, for every clock. */
export function sleepOn(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason as Error)
    const stop = () => {
      timer.cancel()
      reject(signal.reason as Error)
    }
    const timer = clock.after(ms, () => {
      offAbort(signal, stop)
      resolve()
    })
    onAbort(signal, stop)
  })
}

/** Calls back every `ms` until cancelled. */
export function every(clock: Clock, ms: number, callback: () => void): Timer {
  const tick = () => {
    timer = clock.after(ms, tick)
    callback()
  }
  let timer = clock.after(ms, tick)
  return { cancel: () => timer.cancel() }
}

/** The last formatted second. Most writes of a busy server need the same one. */
let written = { second: NaN, text: '', zoned: '' }

function secondOf(ms: number): typeof written {
  const second = Math.floor(ms / 1000)
  if (second !== written.second) {
    const text = new Date(ms).toISOString().slice(0, 19)
    written = { second, text, zoned: `${text}Z` }
  }
  return written
}

/** RFC 3339 with seconds, as metav1.Time writes it. Objects of the same second share one string. */
export const rfc3339 = (ms: number): string => secondOf(ms).zoned

/** The day in UTC: `2030-01-31`. */
export const dayOf = (ms: number): string => rfc3339(ms).slice(0, 10)

/** RFC 3339 with microseconds, as metav1.MicroTime writes it. */
export const rfc3339Micro = (ms: number): string => {
  const micros = Math.floor(ms * 1000) % 1_000_000
  return `${secondOf(ms).text}.${String(micros).padStart(6, '0')}Z`
}

const unitMs = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** '90s', '1h30m', '250ms', or a number of milliseconds. */
export function durationMs(text: string | number): number {
  if (typeof text === 'number') return text
  if (!/^(\d+(\.\d+)?(ms|s|m|h|d))+$/.test(text))
    throw new Error(`duration ${JSON.stringify(text)} is not like 90s or 1h30m`)
  let total = 0
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/gy))
    total += Number(amount) * unitMs[unit as keyof typeof unitMs]
  return total
}
