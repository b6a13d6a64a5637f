// NodeColumns: numbers that follow from a node alone, such as whether a pod's tolerations cover its taints. A column is
// named by what it depends on, so that pods which ask the same share it; a node that changes loses its own numbers only.
import type { Node } from '../../api/core/v1/node.ts'

/** Columns kept; the one that was asked for least recently goes first. */
const columnsMax = 512

export class NodeColumn {
  readonly #nodes: readonly (Node | undefined)[]
  readonly #compute: (node: Node) => number
  #values: Float64Array

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

  forget(slot: number): void {
    this.#values[slot] = NaN
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
  readonly #columns = new Map<string, NodeColumn>()
  #capacity: number

  constructor(nodes: readonly (Node | undefined)[], capacity: number) {
    this.#nodes = nodes
    this.#capacity = capacity
  }

  of(key: string, compute: (node: Node) => number): NodeColumn {
    const known = this.#columns.get(key)
    if (known !== undefined) this.#columns.delete(key)
    const column = known ?? new NodeColumn(this.#nodes, this.#capacity, compute)
    this.#columns.set(key, column)
    if (this.#columns.size > columnsMax) this.#columns.delete(this.#columns.keys().next().value ?? '')
    return column
  }

  forget(slot: number): void {
    for (const column of this.#columns.values()) column.forget(slot)
  }

  grow(capacity: number): void {
    this.#capacity = capacity
    for (const column of this.#columns.values()) column.grow(capacity)
  }
}
