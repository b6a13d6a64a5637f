// Verdicts: what was found about each node in one cycle, two bytes a node. Equal verdicts are kept once.

/** Why a pod may not be on a node, or nowhere. */
export interface Rejection {
  readonly kind: 'rejected'
  readonly reasons: readonly string[]
  /** Whether removing pods from the node could help. */
  readonly resolvable: boolean
}

export const rejection = (reasons: string | readonly string[], resolvable: boolean): Rejection => ({
  kind: 'rejected',
  reasons: typeof reasons === 'string' ? [reasons] : reasons,
  resolvable,
})

export interface NodeVerdict {
  readonly plugin: string
  readonly rejection: Rejection
}

const notAsked = 0
const fitting = 1
const rejectedFrom = 2

export class Verdicts {
  readonly #codes: Uint16Array
  readonly #distinct: NodeVerdict[] = []
  readonly #codeOf = new Map<Rejection, number>()
  #lastRejection: Rejection | undefined
  #lastCode = notAsked

  constructor(slots: number) {
    this.#codes = new Uint16Array(slots)
  }

  /** Slots that it has room for. */
  get cells(): number {
    return this.#codes.length
  }

  fits(slot: number): void {
    this.#codes[slot] = fitting
  }

  rejects(slot: number, { plugin, rejection }: NodeVerdict): void {
    // Neighbours are most often rejected for the same reason.
    if (rejection !== this.#lastRejection) {
      this.#lastRejection = rejection
      this.#lastCode = this.#codeFor(plugin, rejection)
    }
    this.#codes[slot] = this.#lastCode
  }

  /** Undefined when the node was not looked at. */
  of(slot: number): NodeVerdict | 'fits' | undefined {
    const code = this.#codes[slot] ?? notAsked
    return code === notAsked ? undefined : code === fitting ? 'fits' : this.#distinct[code - rejectedFrom]
  }

  rejectedBy(): Set<string> {
    return new Set(this.#distinct.map(({ plugin }) => plugin))
  }

  /** Whether removing pods could help on this node. */
  isResolvable(slot: number): boolean {
    const found = this.of(slot)
    return typeof found === 'object' && found.rejection.resolvable
  }

  /** Those of the slots on which removing pods could help. */
  resolvable(order: Int32Array): Int32Array {
    const isResolvable = this.#distinct.map(({ rejection }) => rejection.resolvable)
    const found = new Int32Array(order.length)
    let count = 0
    for (let index = 0; index < order.length; index++) {
      const slot = order[index] as number
      if (isResolvable[(this.#codes[slot] as number) - rejectedFrom] === true) found[count++] = slot
    }
    return found.subarray(0, count)
  }

  *reasonCounts(): Generator<[reason: string, count: number]> {
    const counts = new Int32Array(this.#distinct.length + rejectedFrom)
    for (const code of this.#codes) counts[code] = (counts[code] as number) + 1
    for (const [index, { rejection }] of this.#distinct.entries())
      for (const reason of rejection.reasons) yield [reason, counts[index + rejectedFrom] as number]
  }

  #codeFor(plugin: string, rejection: Rejection): number {
    const known = this.#codeOf.get(rejection)
    if (known !== undefined) return known
    const code = this.#distinct.push({ plugin, rejection }) - 1 + rejectedFrom
    this.#codeOf.set(rejection, code)
    return code
  }
}

/** `0/5 nodes are available: 2 Insufficient cpu, 3 node(s) were unschedulable.` */
export function summary(nodeCount: number, reasonCounts: Iterable<readonly [string, number]>): string {
  const counts = new Map<string, number>()
  for (const [reason, count] of reasonCounts) counts.set(reason, (counts.get(reason) ?? 0) + count)
  const reasons = [...counts].map(([reason, count]) => `${count} ${reason}`).toSorted()
  return `0/${nodeCount} nodes are available:${reasons.length === 0 ? '' : ` ${reasons.join(', ')}.`}`
}
