// A flow as a tree in text: one line per event, indented under its cause. Similar branches are folded.
import type { Arrow, FlowId } from '../base/observability/flow-recorder.ts'
import type { FlowNode } from './flow-graph.ts'
import type { ShareLifelines } from './fold-participants.ts'
import { foldBranches, eventText, type Branch } from './fold-branches.ts'
import { truncate, hasFailed, colorizerFor } from './diagram-colors.ts'
import { withRequestStages } from './request-stages.ts'

const signs: Readonly<Record<Arrow, string>> = {
  call: '──►',
  watch: '--►',
  persist: '══►',
  reconcile: '···►',
  step: '···',
}

/** For calls whose cause is inferred. */
const inferredSign = '╌╌►'

export interface DiagramOptions {
  /** Folds similar branches. */
  readonly fold: boolean
  /** Messages, by id, whose similar messages are shown separately although others are folded. */
  readonly expanded?: ReadonlySet<FlowId> | undefined
  /** Which participants share lifelines when branches are folded; by default many kubelets. */
  readonly share?: ShareLifelines
  /** Shows the authorization rule of each call. */
  readonly rules?: boolean
  /** Shows the stages of each call in the API server, with their durations. */
  readonly stages?: boolean
  /** The width of the terminal; longer lines are truncated. */
  readonly columns?: number | undefined
  /** Uses terminal colors. */
  readonly colors?: boolean
}

export function textDiagram(roots: readonly FlowNode[], options: DiagramOptions = { fold: true }): string {
  const startMs = roots[0]?.event.atMs ?? 0
  const drawn = options.stages ? withRequestStages(roots) : roots
  const lines = foldBranches(drawn, options.fold, options.expanded).flatMap((branch) =>
    linesOf(branch, { startMs, depth: 0, times: 1 }, options),
  )
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`
}

/** The position of a branch. `times` is the count of its parent. */
interface Place {
  readonly startMs: number
  readonly depth: number
  readonly times: number
}

function linesOf(branch: Branch, { startMs, depth, times }: Place, options: DiagramOptions): string[] {
  const { event, isInferred, count, branches } = branch
  const { arrow, from, to, allowedBy } = event
  const time = `+${Math.round(event.atMs - startMs)}ms`.padStart(9)
  const sign = isInferred ? inferredSign : signs[arrow]
  const parties = arrow === 'reconcile' ? `${from} ${sign}` : `${from} ${sign} ${to}`
  const similar = count === times ? '' : count > 1 ? `  ×${count} similar` : '  once'
  const rule = options.rules && allowedBy ? `  (${allowedBy})` : ''
  const { columns = Infinity, colors } = options
  const paint = colorizerFor(colors)
  const indent = '  '.repeat(depth)
  const text = truncate(`${parties}: ${eventText(event)}${similar}${rule}`, columns - time.length - indent.length - 2)
  const line = `${paint('dim', time)}  ${indent}${paint(hasFailed(event) ? 'failure' : arrow, text)}`
  const below = { startMs, depth: depth + 1, times: count }
  return [line, ...branches.flatMap((each) => linesOf(each, below, options))]
}
