// CpuRates: CPU usage rates from cumulative CPU time.

interface Sample {
  readonly nanos: number
  readonly atMs: number
  readonly nanoCores: number
}

/** For shorter intervals the previous rate is returned. */
const windowMsMin = 1_000

export class CpuRates {
  #samples: ReadonlyMap<string, Sample> = new Map()

  /** Rounds may overlap: each has the rates since the last one that was finished before it began. */
  round(): CpuRound {
    return new CpuRound(this.#samples, (samples) => (this.#samples = samples))
  }
}

/** One sample of each key. */
export class CpuRound {
  readonly #before: ReadonlyMap<string, Sample>
  readonly #samples = new Map<string, Sample>()
  readonly #keep: (samples: ReadonlyMap<string, Sample>) => void

  constructor(before: ReadonlyMap<string, Sample>, keep: (samples: ReadonlyMap<string, Sample>) => void) {
    this.#before = before
    this.#keep = keep
  }

  /** The rate since the last sample, or since the start for the first one and for a counter that was reset. */
  nanoCores(key: string, nanos: number, startedMs: number, nowMs: number): number {
    const sample = nextSample(this.#before.get(key), nanos, startedMs, nowMs)
    this.#samples.set(key, sample)
    return sample.nanoCores
  }

  /** Keys that were not sampled in this round are forgotten. */
  finish(): void {
    this.#keep(this.#samples)
  }
}

function nextSample(before: Sample | undefined, nanos: number, startedMs: number, nowMs: number): Sample {
  const from = before === undefined || nanos < before.nanos ? { nanos: 0, atMs: startedMs } : before
  const ms = nowMs - from.atMs
  if (before !== undefined && ms < windowMsMin) return before
  const nanoCores = ms <= 0 ? 0 : Math.round(((nanos - from.nanos) * 1_000) / ms)
  return { nanos, atMs: nowMs, nanoCores }
}
