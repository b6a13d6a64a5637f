// PodCounts: number of matching pods on each node. Counted once per test, then updated with every pod.
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { LruMap } from '../../base/collections/lru-map.ts'

export type PodTest = (pod: Pod) => boolean

interface Count {
  readonly test: PodTest
  values: Int32Array
}

/** Maximum number of cached counts. */
const countsMax = 256

export class PodCounts {
  readonly #placed: () => Iterable<{ readonly pod: Pod; readonly slot: number }>
  readonly #counts = new LruMap<Count>(countsMax)
  #capacity: number

  constructor(capacity: number, placed: () => Iterable<{ readonly pod: Pod; readonly slot: number }>) {
    this.#capacity = capacity
    this.#placed = placed
  }

  /** Counts by node slot; `key` must name everything that `test` depends on. */
  of(key: string, test: PodTest): Int32Array {
    return this.#counts.getOrInsert(key, () => this.#count(test)).values
  }

  shift(slot: number, pod: Pod, by: 1 | -1): void {
    for (const { test, values } of this.#counts.values()) if (test(pod)) values[slot] = (values[slot] as number) + by
  }

  /** Called when the results of tests may have changed for existing pods. */
  clear(): void {
    this.#counts.clear()
  }

  grow(capacity: number): void {
    this.#capacity = capacity
    for (const count of this.#counts.values()) {
      const values = new Int32Array(capacity)
      values.set(count.values)
      count.values = values
    }
  }

  #count(test: PodTest): Count {
    const values = new Int32Array(this.#capacity)
    for (const { pod, slot } of this.#placed()) if (test(pod)) values[slot] = (values[slot] as number) + 1
    return { test, values }
  }
}
