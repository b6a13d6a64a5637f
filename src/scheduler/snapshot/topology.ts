// Topology: into which domain of a topology key (a zone, a host) each node falls, as small numbers.
import type { Node } from '../../api/core/v1/node.ts'
import type { NodeColumn, NodeColumns } from './node-columns.ts'

export const noDomain = -1

export class Topology {
  readonly #ids = new Map<string, number>()
  readonly #key: string
  readonly #columns: NodeColumns

  constructor(key: string, columns: NodeColumns) {
    this.#key = key
    this.#columns = columns
  }

  /** How many domains have been seen; numbers below it are domains. */
  get size(): number {
    return this.#ids.size
  }

  /** The domain of each node, or `noDomain`. */
  get column(): NodeColumn {
    return this.#columns.of(`topology ${this.#key}`, (node) => this.#domainOf(node))
  }

  #domainOf({ metadata: { labels } }: Node): number {
    const value = labels?.[this.#key]
    if (value === undefined) return noDomain
    const known = this.#ids.get(value)
    if (known !== undefined) return known
    this.#ids.set(value, this.#ids.size)
    return this.#ids.size - 1
  }
}
