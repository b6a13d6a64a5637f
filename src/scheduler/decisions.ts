// DecisionRecord: why pods are where they are, or nowhere: for every node each plugin's verdict and score. Bounded.
import { assert } from '../base/assert.ts'
import type { ObjectKey } from '../api/object.ts'
import type { Scores } from './scoring.ts'
import type { Verdicts } from './verdicts.ts'

export interface Decision {
  readonly atMs: number
  readonly schedulerName: string
  /** Where the pod goes; undefined when it fits nowhere. */
  readonly nodeName: string | undefined
  /** What the pod's condition says, when it fits nowhere. */
  readonly message: string
  /** Names by slot at that time. */
  readonly names: readonly string[]
  readonly verdicts: Verdicts
  /** Undefined when there was nothing to choose from. */
  readonly scores: Scores | undefined
}

/** A decision as it is told: one row per node. */
export interface Explanation {
  readonly pod: ObjectKey
  readonly at: string
  readonly schedulerName: string
  readonly nodeName?: string
  readonly message: string
  readonly nodes: readonly ExplainedNode[]
}

export interface ExplainedNode {
  readonly node: string
  readonly verdict: 'fits' | 'rejected' | 'not asked'
  readonly plugin?: string
  readonly reasons?: readonly string[]
  readonly total?: number
  readonly scores?: Readonly<Record<string, number>>
}

/** Node cells of all decisions together: 5,000 nodes leave room for the last few hundred pods. */
const cellsMax = 4_000_000

export class DecisionRecord {
  readonly #decisions = new Map<ObjectKey, Decision>()
  #cells = 0

  remember(pod: ObjectKey, decision: Decision): void {
    this.forget(pod)
    this.#decisions.set(pod, decision)
    this.#cells += cellsOf(decision)
    for (const oldest of this.#decisions.keys()) {
      if (this.#cells <= cellsMax) return
      this.forget(oldest)
    }
  }

  forget(pod: ObjectKey): void {
    const known = this.#decisions.get(pod)
    if (known === undefined) return
    this.#decisions.delete(pod)
    this.#cells -= cellsOf(known)
    assert(this.#cells >= 0, 'decisions are counted down as they were counted up')
  }

  /** Undefined when nothing was decided, or that has been forgotten. */
  of(pod: ObjectKey): Decision | undefined {
    return this.#decisions.get(pod)
  }

  explain(pod: ObjectKey): Explanation | undefined {
    const decision = this.#decisions.get(pod)
    if (decision === undefined) return undefined
    const { atMs, schedulerName, nodeName, message, names } = decision
    const nodes = names.flatMap((name, slot) => (name === '' ? [] : [explainNode(decision, name, slot)]))
    const at = new Date(atMs).toISOString()
    return { pod, at, schedulerName, ...(nodeName !== undefined && { nodeName }), message, nodes }
  }
}

const cellsOf = ({ verdicts, scores }: Decision): number =>
  verdicts.cells + (scores === undefined ? 0 : scores.slots.length * (scores.columns.length + 3))

function explainNode({ verdicts, scores }: Decision, node: string, slot: number): ExplainedNode {
  const verdict = verdicts.of(slot)
  if (verdict === undefined) return { node, verdict: 'not asked' }
  if (verdict !== 'fits')
    return { node, verdict: 'rejected', plugin: verdict.plugin, reasons: verdict.rejection.reasons }
  const index = scores?.slots.indexOf(slot) ?? -1
  if (scores === undefined || index < 0) return { node, verdict: 'fits' }
  const given = scores.columns.map(({ plugin, values }) => [plugin, values[index] ?? 0] as const)
  return { node, verdict: 'fits', total: scores.totals[index] ?? 0, scores: Object.fromEntries(given) }
}
