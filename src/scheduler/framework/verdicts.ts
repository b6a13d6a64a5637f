// Verdicts: the result for each node in one cycle, two bytes per node. Equal verdicts are stored once. While all
// evaluated nodes fit, as in most cycles, only their list is stored.

/** Why a pod is rejected on a node or on all nodes. */
export interface Rejection {
  readonly kind: 'rejected'
  readonly reasons: readonly string[]
  /** Whether preemption on the node could help. */
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
const notEvaluated = 0
const fitting = 1
const rejectedFrom = 2

/** The part of verdicts that is recorded after the cycle. */
export interface RecordedVerdicts {
  /** By slot; undefined when no node was rejected. */
  readonly codes: Uint16Array | undefined
  readonly fitting: Int32Array
  /** The verdicts of the codes from `rejectedFrom` on. */
  readonly distinct: readonly NodeVerdict[]
}

export function verdictAt(
  { codes, fitting: slots, distinct }: RecordedVerdicts,
  slot: number,
): NodeVerdict | 'fits' | undefined {
  const code = codes === undefined ? (slots.includes(slot) ? fitting : notEvaluated) : (codes[slot] ?? notEvaluated)
  return code === notEvaluated ? undefined : code === fitting ? 'fits' : distinct[code - rejectedFrom]
}

export class Verdicts implements RecordedVerdicts {
  readonly #slots: number
  /** Invariant: undefined while no node was rejected. */
  #codes: Uint16Array | undefined
  #fitting: Int32Array = noSlots
  readonly #distinct: NodeVerdict[] = []
  readonly #codeOf = new Map<Rejection, number>()
  #lastRejection: Rejection | undefined
  #lastCode = notEvaluated

  constructor(slots: number) {
    this.#slots = slots
  }

  get codes(): Uint16Array | undefined {
    return this.#codes
  }

  get fitting(): Int32Array {
    return this.#fitting
  }

  get distinct(): readonly NodeVerdict[] {
    return this.#distinct
  }

  /** Records the nodes that fit; the array is not copied. */
  accept(slots: Int32Array): void {
    this.#fitting = slots
    if (this.#codes !== undefined) for (const slot of slots) this.#codes[slot] = fitting
  }

  reject(slot: number, verdict: NodeVerdict): void {
    // Consecutive nodes are usually rejected for the same reason.
    if (verdict.rejection !== this.#lastRejection) {
      this.#lastRejection = verdict.rejection
      this.#lastCode = this.#codeFor(verdict)
    }
    const codes = this.#codes ?? this.#withCodes()
    codes[slot] = this.#lastCode
  }

  /** Undefined when the node was not evaluated. */
  of(slot: number): NodeVerdict | 'fits' | undefined {
    return verdictAt(this, slot)
  }

  rejectedBy(): Set<string> {
    return new Set(this.#distinct.map(({ plugin }) => plugin))
  }

  /** Whether preemption could help on this node. */
  isResolvable(slot: number): boolean {
    const found = this.of(slot)
    return typeof found === 'object' && found.rejection.resolvable
  }

  /** The slots on which preemption could help. */
  resolvable(order: Int32Array): Int32Array {
    const codes = this.#codes
    if (codes === undefined) return noSlots
    const isResolvable = this.#distinct.map((verdict) => verdict.rejection.resolvable)
    const found = new Int32Array(order.length)
    let count = 0
    for (let index = 0; index < order.length; index++) {
      const slot = order[index] as number
      if (isResolvable[(codes[slot] as number) - rejectedFrom] === true) found[count++] = slot
    }
    return found.subarray(0, count)
  }

  *reasonCounts(): Generator<[reason: string, count: number]> {
    const counts = new Int32Array(this.#distinct.length + rejectedFrom)
    for (const code of this.#codes ?? []) counts[code] = (counts[code] as number) + 1
    for (const [index, verdict] of this.#distinct.entries())
      for (const reason of verdict.rejection.reasons) yield [reason, counts[index + rejectedFrom] as number]
  }

  #withCodes(): Uint16Array {
    const codes = new Uint16Array(this.#slots)
    for (const slot of this.#fitting) codes[slot] = fitting
    this.#codes = codes
    return codes
  }

  #codeFor(verdict: NodeVerdict): number {
    const known = this.#codeOf.get(verdict.rejection)
    if (known !== undefined) return known
    const code = this.#distinct.push(verdict) - 1 + rejectedFrom
    this.#codeOf.set(verdict.rejection, code)
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
