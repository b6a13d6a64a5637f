// CpuRates: CPU usage rates from cumulative CPU time.

interface Sample {
  readonly nanos: number
  readonly atMs: number
  readonly nanoCores: number
}

/** For shorter intervals the previous rate is returned. */
const windowMsMin = 1_000

export class CpuRates {
  #samples = new Map<string, Sample>()
  #next = new Map<string, Sample>()

  /** The rate since the last sample, or since the start for the first one and for a counter that was reset. */
  nanoCores(key: string, nanos: number, startedMs: number, nowMs: number): number {
    const before = this.#samples.get(key)
    const sample = nextSample(before, nanos, startedMs, nowMs)
    this.#next.set(key, sample)
    return sample.nanoCores
  }

  /** Ends a round of samples; keys that were not sampled in it are removed. */
  finish(): void {
    this.#samples = this.#next
    this.#next = new Map()
  }
}

function nextSample(before: Sample | undefined, nanos: number, startedMs: number, nowMs: number): Sample {
  const from = before === undefined || nanos < before.nanos ? { nanos: 0, atMs: startedMs } : before
  const ms = nowMs - from.atMs
  if (before !== undefined && ms < windowMsMin) return before
  const nanoCores = ms <= 0 ? 0 : Math.round(((nanos - from.nanos) * 1_000) / ms)
  return { nanos, atMs: nowMs, nanoCores }
}
