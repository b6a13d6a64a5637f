// DecisionRecord: why each pod was placed where it is, or nowhere: every plugin's verdict and score for every node.
// Bounded.
import { RingAllocator } from '../../base/collections/ring-allocator.ts'
import type { ObjectKey } from '../../api/meta/object.ts'
import type { Scores } from './scoring.ts'
import { verdictAt, type RecordedVerdicts, type NodeVerdict } from '../framework/verdicts.ts'

export interface Decision {
  readonly atMs: number
  readonly schedulerName: string
  /** The chosen node; undefined when none fits. */
  readonly nodeName: string | undefined
  /** The message of the pod's condition when no node fits. */
  readonly message: string
  /** Node names by slot at that time. */
  readonly names: readonly string[]
  readonly verdicts: RecordedVerdicts
  /** Undefined when at most one node fits. */
  readonly scores: Scores | undefined
}

/** A decision for clients: one row per node. */
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
  readonly verdict: 'fits' | 'rejected' | 'not evaluated'
  readonly plugin?: string
  readonly reasons?: readonly string[]
  readonly total?: number
  readonly scores?: Readonly<Record<string, number>>
}

/** For all decisions together. With 5,000 nodes it holds the last few hundred pods. */
const bytesMax = 8 << 20
/** Minimum size of a decision, which bounds their number to some thousands. */
const decisionBytesMin = 1 << 10

/** A decision without its arrays, and their address in the ring. */
interface RecordedDecision extends Omit<Decision, 'verdicts' | 'scores'> {
  readonly address: number
  readonly fittingCount: number
  /** 0 when no node was rejected. */
  readonly codeCount: number
  readonly distinct: readonly NodeVerdict[]
  /** The scoring plugins; undefined when at most one node fits. */
  readonly plugins: readonly string[] | undefined
}

export class DecisionRecord {
  readonly #memory = new RingAllocator(bytesMax)
  /** In the order of their addresses. */
  readonly #recorded = new Map<ObjectKey, RecordedDecision>()

  /** Copies the arrays of the decision. */
  record(pod: ObjectKey, { verdicts, scores, ...rest }: Decision): void {
    this.forget(pod)
    const { codes, distinct } = verdicts
    const fitting = scores?.slots ?? verdicts.fitting
    const fittingCount = fitting.length
    const codeCount = codes?.length ?? 0
    const plugins = scores?.columns.map(({ plugin }) => plugin)
    const address = this.#memory.allocate(bytesOf(fittingCount, codeCount, plugins?.length))
    if (address === undefined) return
    const stored = { ...rest, address, fittingCount, codeCount, distinct, plugins }
    const lists = this.#lists(stored)
    lists.fitting.set(fitting)
    if (codes !== undefined) lists.codes?.set(codes)
    if (scores !== undefined) lists.totals?.set(scores.totals)
    for (const [index, { values }] of (scores?.columns ?? []).entries()) lists.columns.set(values, index * fittingCount)
    this.#recorded.set(pod, stored)
    for (const [oldest, recorded] of this.#recorded) {
      if (this.#memory.isAllocated(recorded.address)) return
      this.#recorded.delete(oldest)
    }
  }

  forget(pod: ObjectKey): void {
    this.#recorded.delete(pod)
  }

  /** Undefined when there is no decision or it has been overwritten. */
  explain(pod: ObjectKey): Explanation | undefined {
    const stored = this.#recorded.get(pod)
    if (stored === undefined) return undefined
    const { atMs, schedulerName, nodeName, message, names } = stored
    const lists = this.#lists(stored)
    const nodes = names.flatMap((name, slot) => (name === '' ? [] : [explainNode(stored, lists, name, slot)]))
    const at = new Date(atMs).toISOString()
    return { pod, at, schedulerName, ...(nodeName !== undefined && { nodeName }), message, nodes }
  }

  /** The arrays of a decision in the ring, widest element type first. */
  #lists({ address, fittingCount, codeCount, plugins }: RecordedDecision): Lists {
    const { bytes, offset } = this.#memory.bytesAt(address)
    const totalCount = plugins === undefined ? 0 : fittingCount
    const fittingFrom = offset + totalCount * 8
    const codesFrom = fittingFrom + fittingCount * 4
    const columnsFrom = codesFrom + codeCount * 2
    return {
      totals: plugins && new Float64Array(bytes, offset, totalCount),
      fitting: new Int32Array(bytes, fittingFrom, fittingCount),
      codes: codeCount === 0 ? undefined : new Uint16Array(bytes, codesFrom, codeCount),
      columns: new Uint8Array(bytes, columnsFrom, (plugins?.length ?? 0) * fittingCount),
    }
  }
}

interface Lists {
  readonly totals: Float64Array | undefined
  readonly fitting: Int32Array
  readonly codes: Uint16Array | undefined
  /** The values of each plugin, one after the other. */
  readonly columns: Uint8Array
}

const bytesOf = (fittingCount: number, codeCount: number, pluginCount: number | undefined): number =>
  Math.max(decisionBytesMin, fittingCount * (4 + (pluginCount === undefined ? 0 : 8 + pluginCount)) + codeCount * 2)

function explainNode(
  { distinct, plugins = [] }: RecordedDecision,
  lists: Lists,
  node: string,
  slot: number,
): ExplainedNode {
  const { fitting, codes, totals, columns } = lists
  const verdict = verdictAt({ codes, fitting, distinct }, slot)
  if (verdict === undefined) return { node, verdict: 'not evaluated' }
  if (verdict !== 'fits')
    return { node, verdict: 'rejected', plugin: verdict.plugin, reasons: verdict.rejection.reasons }
  const index = fitting.indexOf(slot)
  if (totals === undefined || index < 0) return { node, verdict: 'fits' }
  const given = plugins.map((plugin, column) => [plugin, columns[column * fitting.length + index] ?? 0] as const)
  return { node, verdict: 'fits', total: totals[index] ?? 0, scores: Object.fromEntries(given) }
}
