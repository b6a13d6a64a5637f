// PodHeap: a binary heap with removal of any member. Removed members are skipped when they reach the top.
export class PodHeap<T> {
  readonly #compare: (a: T, b: T) => number
  readonly #members = new Set<T>()
  #heap: T[] = []

  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare
  }

  get size(): number {
    return this.#members.size
  }

  push(item: T): void {
    this.#members.add(item)
    const heap = this.#heap
    let index = heap.push(item) - 1
    while (index > 0) {
      const parent = (index - 1) >> 1
      if (this.#compare(heap[index] as T, heap[parent] as T) >= 0) return
      this.#swap(index, parent)
      index = parent
    }
  }

  remove(item: T): void {
    if (!this.#members.delete(item)) return
    // Removed members never outnumber the others.
    if (this.#heap.length < 64 || this.#heap.length < this.#members.size * 2) return
    this.#heap = [...this.#members].toSorted(this.#compare)
  }

  pop(): T | undefined {
    for (let first = this.#removeFirst(); first !== undefined; first = this.#removeFirst())
      if (this.#members.delete(first)) return first
    return undefined
  }

  #removeFirst(): T | undefined {
    const first = this.#heap[0]
    const last = this.#heap.pop()
    if (first === undefined || last === undefined || this.#heap.length === 0) return first
    this.#heap[0] = last
    this.#sink()
    return first
  }

  #sink(): void {
    const heap = this.#heap
    for (let index = 0; ;) {
      const left = index * 2 + 1
      if (left >= heap.length) return
      const right = left + 1
      const least = right < heap.length && this.#compare(heap[right] as T, heap[left] as T) < 0 ? right : left
      if (this.#compare(heap[least] as T, heap[index] as T) >= 0) return
      this.#swap(index, least)
      index = least
    }
  }

  #swap(a: number, b: number): void {
    const heap = this.#heap
    const item = heap[a] as T
    heap[a] = heap[b] as T
    heap[b] = item
  }
}
