// A flow as text by cause: one line per arrow, indented under what led to it. Alike branches are folded into one.
import type { Arrow } from '../base/flow.ts'
import type { FlowNode } from './flow-graph.ts'
import { folded, wordsOf, type Group } from './fold.ts'
import { withStations } from './stations.ts'

const signs: Readonly<Record<Arrow, string>> = {
  call: '──►',
  watch: '--►',
  persist: '══►',
  reconcile: '···►',
  step: '···',
}

/** A call whose cause is inferred: its sender does not say. */
const inferredSign = '╌╌►'

export interface DiagramOptions {
  /** Fold alike branches; off shows every one. */
  readonly fold: boolean
  /** Name the rule by which each call was let through. */
  readonly rules?: boolean
  /** Show the stations that each call passed, with the time that each took. */
  readonly stations?: boolean
}

export function textDiagram(roots: readonly FlowNode[], options: DiagramOptions = { fold: true }): string {
  const startMs = roots[0]?.event.atMs ?? 0
  const drawn = options.stations ? withStations(roots) : roots
  const lines = folded(drawn, options.fold).flatMap((group) => linesOf(group, startMs, 0, options))
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`
}

function linesOf({ node, count }: Readonly<Group>, startMs: number, depth: number, options: DiagramOptions): string[] {
  const { event, isInferred, children } = node
  const { arrow, from, to, allowedBy } = event
  const time = `+${Math.round(event.atMs - startMs)}ms`.padStart(9)
  const sign = isInferred ? inferredSign : signs[arrow]
  const parties = arrow === 'reconcile' ? `${from} ${sign}` : `${from} ${sign} ${to}`
  const times = count > 1 ? `  ×${count} alike` : ''
  const rule = options.rules && allowedBy ? `  (${allowedBy})` : ''
  const line = `${time}  ${'  '.repeat(depth)}${parties}: ${wordsOf(event)}${times}${rule}`
  return [line, ...folded(children, options.fold).flatMap((child) => linesOf(child, startMs, depth + 1, options))]
}
