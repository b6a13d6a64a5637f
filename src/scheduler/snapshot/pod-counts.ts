// PodCounts: how many pods of each node are meant by a selector. Counted once, then kept up to date pod by pod.
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { LruMap } from '../../base/collections/lru-map.ts'

export type PodTest = (pod: Pod) => boolean

interface Count {
  readonly test: PodTest
  values: Int32Array
}

/** Counts kept. */
const countsMax = 256

export class PodCounts {
  readonly #placed: () => Iterable<{ readonly pod: Pod; readonly slot: number }>
  readonly #counts = new LruMap<Count>(countsMax)
  #capacity: number

  constructor(capacity: number, placed: () => Iterable<{ readonly pod: Pod; readonly slot: number }>) {
    this.#capacity = capacity
    this.#placed = placed
  }

  /** Pods by node slot; `key` names all that `test` depends on. */
  of(key: string, test: PodTest): Int32Array {
    return this.#counts.getOrInsert(key, () => this.#count(test)).values
  }

  shift(slot: number, pod: Pod, by: 1 | -1): void {
    for (const { test, values } of this.#counts.values()) if (test(pod)) values[slot] = (values[slot] as number) + by
  }

  /** For when the outcome of tests may have changed for pods that are there already. */
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
