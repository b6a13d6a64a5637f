// Topology: maps each node to its domain of a topology key (zone, host), as a small number.
import { lookup } from '../../base/collections/lookup.ts'
import type { Node } from '../../api/core/v1/node/node.ts'
import type { NodeColumn, NodeColumns } from './node-columns.ts'

export const noDomain = -1

export class Topology {
  readonly #ids = new Map<string, number>()
  readonly #key: string
  readonly #generation: number
  readonly #columns: NodeColumns

  /** `generation` distinguishes the numbers of this topology from those of a discarded one. */
  constructor(key: string, generation: number, columns: NodeColumns) {
    this.#key = key
    this.#generation = generation
    this.#columns = columns
  }

  /** Number of domains seen; domains are the numbers below it. */
  get size(): number {
    return this.#ids.size
  }

  /** The domain of each node, or `noDomain`. */
  get column(): NodeColumn {
    return this.#columns.of(`topology ${this.#generation} ${this.#key}`, (node) => this.#domainOf(node))
  }

  #domainOf({ metadata: { labels } }: Node): number {
    const value = lookup(labels, this.#key)
    if (value === undefined) return noDomain
    const known = this.#ids.get(value)
    if (known !== undefined) return known
    this.#ids.set(value, this.#ids.size)
    return this.#ids.size - 1
  }
}
