// Verdicts: what was found about each node in one cycle, two bytes a node. Equal verdicts are kept once. As long as every
// node that was looked at fits, as in most cycles, only the list of those is kept.

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

const noSlots = new Int32Array(0)
const notAsked = 0
const fitting = 1
const rejectedFrom = 2

export class Verdicts {
  readonly #slots: number
  #codes: Uint16Array | undefined
  /** The first so many of `#fitting` fit; invariant: without codes no other node was looked at. */
  #fitting: Int32Array = noSlots
  #fittingCount = 0
  readonly #distinct: NodeVerdict[] = []
  readonly #codeOf = new Map<Rejection, number>()
  #lastRejection: Rejection | undefined
  #lastCode = notAsked

  constructor(slots: number) {
    this.#slots = slots
  }

  /** How much it keeps. */
  get cells(): number {
    return this.#codes?.length ?? this.#fittingCount
  }

  /** The last of the first `count` slots in `all` was found to fit, and all before it were told so. */
  fits(all: Int32Array, count: number): void {
    this.#fitting = all
    this.#fittingCount = count
    if (this.#codes !== undefined) this.#codes[all[count - 1] as number] = fitting
  }

  rejects(slot: number, { plugin, rejection }: NodeVerdict): void {
    // Neighbours are most often rejected for the same reason.
    if (rejection !== this.#lastRejection) {
      this.#lastRejection = rejection
      this.#lastCode = this.#codeFor(plugin, rejection)
    }
    const codes = this.#codes ?? this.#withCodes()
    codes[slot] = this.#lastCode
  }

  /** Undefined when the node was not looked at. */
  of(slot: number): NodeVerdict | 'fits' | undefined {
    const code = this.#codeAt(slot)
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
      if (isResolvable[this.#codeAt(slot) - rejectedFrom] === true) found[count++] = slot
    }
    return found.subarray(0, count)
  }

  *reasonCounts(): Generator<[reason: string, count: number]> {
    const counts = new Int32Array(this.#distinct.length + rejectedFrom)
    for (const code of this.#codes ?? []) counts[code] = (counts[code] as number) + 1
    for (const [index, { rejection }] of this.#distinct.entries())
      for (const reason of rejection.reasons) yield [reason, counts[index + rejectedFrom] as number]
  }

  #codeAt(slot: number): number {
    if (this.#codes !== undefined) return this.#codes[slot] ?? notAsked
    return this.#fitting.subarray(0, this.#fittingCount).includes(slot) ? fitting : notAsked
  }

  #withCodes(): Uint16Array {
    const codes = new Uint16Array(this.#slots)
    for (let index = 0; index < this.#fittingCount; index++) codes[this.#fitting[index] as number] = fitting
    this.#codes = codes
    return codes
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
