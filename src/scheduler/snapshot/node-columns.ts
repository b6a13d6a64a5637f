// NodeColumns: numbers that depend on a node alone, such as whether a pod's tolerations cover its taints. The key of a
// column names everything else that it depends on, so that similar pods share it. When a node changes, only its own
// numbers are recomputed.
import type { Node } from '../../api/core/v1/node/node.ts'
import { LruMap } from '../../base/collections/lru-map.ts'

/** Maximum number of cached columns. */
const columnsMax = 512

export class NodeColumn {
  readonly #nodes: readonly (Node | undefined)[]
  readonly #compute: (node: Node) => number
  #values: Float64Array
  #positives: number | undefined
  #isComplete = false

  constructor(nodes: readonly (Node | undefined)[], capacity: number, compute: (node: Node) => number) {
    this.#nodes = nodes
    this.#compute = compute
    this.#values = new Float64Array(capacity).fill(NaN)
  }

  /** The number of the node in this slot. */
  at(slot: number): number {
    const value = this.#values[slot] as number
    return Number.isNaN(value) ? this.#work(slot) : value
  }

  /** The numbers by slot, computed for all of these; valid until a node changes. */
  all(order: Int32Array): Float64Array {
    if (!this.#isComplete) for (let index = 0; index < order.length; index++) this.at(order[index] as number)
    this.#isComplete = true
    return this.#values
  }

  /** How many of these nodes have a number above 0. */
  positives(order: Int32Array): number {
    if (this.#positives !== undefined) return this.#positives
    const values = this.all(order)
    let count = 0
    for (const slot of order) if ((values[slot] as number) > 0) count++
    return (this.#positives = count)
  }

  forget(slot: number): void {
    this.#values[slot] = NaN
    this.#positives = undefined
    this.#isComplete = false
  }

  grow(capacity: number): void {
    const values = new Float64Array(capacity).fill(NaN)
    values.set(this.#values)
    this.#values = values
  }

  #work(slot: number): number {
    const node = this.#nodes[slot]
    return node === undefined ? 0 : (this.#values[slot] = this.#compute(node))
  }
}

export class NodeColumns {
  readonly #nodes: readonly (Node | undefined)[]
  readonly #columns = new LruMap<NodeColumn>(columnsMax)
  #capacity: number

  constructor(nodes: readonly (Node | undefined)[], capacity: number) {
    this.#nodes = nodes
    this.#capacity = capacity
  }

  of(key: string, compute: (node: Node) => number): NodeColumn {
    return this.#columns.getOrInsert(key, () => new NodeColumn(this.#nodes, this.#capacity, compute))
  }

  forget(slot: number): void {
    for (const column of this.#columns.values()) column.forget(slot)
  }

  grow(capacity: number): void {
    this.#capacity = capacity
    for (const column of this.#columns.values()) column.grow(capacity)
  }
}
