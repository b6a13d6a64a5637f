// A benchmark measures one hot path and returns lines for a page of bench/results/. Each is one file, listed in run.ts.

export interface Bench {
  readonly name: string
  run(): Promise<readonly string[]> | readonly string[] | AsyncIterable<string>
}

/** Nanoseconds per call: the best of several rounds, after a warm-up. */
export function nanosecondsPer(calls: number, work: (calls: number) => void, rounds = 7): number {
  work(calls)
  let best = Infinity
  for (let round = 0; round < rounds; round++) {
    const start = performance.now()
    work(calls)
    best = Math.min(best, performance.now() - start)
  }
  return (best * 1e6) / calls
}
