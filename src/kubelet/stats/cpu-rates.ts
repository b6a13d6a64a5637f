// CpuRates: from time of processors, which only grows, to how much of them is in use now.

interface Sample {
  readonly nanos: number
  readonly atMs: number
  readonly nanoCores: number
}

/** Two looks that are closer tell nothing: the rate of the one before holds. */
const windowMsMin = 1_000

export class CpuRates {
  #samples = new Map<string, Sample>()
  #next = new Map<string, Sample>()

  /** The rate since the last look; at the first one since it began. A counter that began anew counts from there. */
  nanoCores(key: string, nanos: number, startedMs: number, nowMs: number): number {
    const before = this.#samples.get(key)
    const sample = rated(before, nanos, startedMs, nowMs)
    this.#next.set(key, sample)
    return sample.nanoCores
  }

  /** The look is over: what was not seen in it is forgotten. */
  finish(): void {
    this.#samples = this.#next
    this.#next = new Map()
  }
}

function rated(before: Sample | undefined, nanos: number, startedMs: number, nowMs: number): Sample {
  const from = before === undefined || nanos < before.nanos ? { nanos: 0, atMs: startedMs } : before
  const ms = nowMs - from.atMs
  if (before !== undefined && ms < windowMsMin) return before
  const nanoCores = ms <= 0 ? 0 : Math.round(((nanos - from.nanos) * 1_000) / ms)
  return { nanos, atMs: nowMs, nanoCores }
}
