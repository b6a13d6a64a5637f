// The scheduler's decision about a pod as a table: for each node the rejecting plugin and its reasons, or the scores.
import type { fetchSchedulingExplanation } from '../../cluster/client/scheduling-explanation.ts'

type Explanation = NonNullable<Awaited<ReturnType<typeof fetchSchedulingExplanation>>>
type ExplainedNode = Explanation['nodes'][number]

const heading = ({ nodeName, schedulerName, at }: Explanation): string =>
  `Decision of ${schedulerName} at ${at}: ${nodeName === undefined ? 'no node fits' : nodeName}\n`

/** Fitting nodes first, best score on top; then the others by reason. */
export function decisionText(explanation: Explanation): string {
  const rows = explanation.nodes
    .map((node) => [node.node, node.verdict, totalText(node), detailOf(node)] as const)
    .toSorted((a, b) => order(a).localeCompare(order(b)) || Number(b[2]) - Number(a[2]) || a[3].localeCompare(b[3]))
  const table = [['NODE', 'VERDICT', 'SCORE', 'DETAILS'] as const, ...rows]
  const widths = [0, 1, 2].map((column) => Math.max(...table.map((row) => row[column]?.length ?? 0)))
  const lines = table.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
  return `${heading(explanation)}\n${lines.join('\n')}\n`
}

const order = ([, verdict]: readonly [string, string, ...string[]]): string => (verdict === 'fits' ? '0' : verdict)

const totalText = ({ total }: ExplainedNode): string => (total === undefined ? '' : String(total))

function detailOf({ plugin, reasons = [], scores = {}, verdict }: ExplainedNode): string {
  if (verdict === 'rejected') return `${plugin}: ${reasons.join(', ')}`
  if (verdict === 'not evaluated') return 'not evaluated: enough nodes were found'
  return Object.entries(scores)
    .map(([name, score]) => `${name} ${score}`)
    .join(', ')
}
