// coxswain why: for each node, what the scheduler found about a pod: who rejected it and why, or how it scored.
import { fetchExplanation } from '../../cluster/decisions.ts'
import { defineCommand, UsageError } from '../command.ts'
import { readKubeconfig } from '../kubeconfig-file.ts'

type Explanation = NonNullable<Awaited<ReturnType<typeof fetchExplanation>>>
type ExplainedNode = Explanation['nodes'][number]

export const why = defineCommand({
  name: 'why',
  summary: 'tells why a pod is where it is, or waits, node by node',
  operands: 'pod/<name>',
  options: {
    namespace: { type: 'string', value: '<name>', short: 'n', help: 'the namespace of the pod (default)' },
    format: { type: 'string', value: 'text|json', help: 'how to write it (text)' },
    kubeconfig: { type: 'string', value: '<file>', help: 'how to reach the cluster ($KUBECONFIG)' },
  },
  async run({ operands, options }, { out, environment, signal }) {
    const [kind = '', name = ''] = (operands[0] ?? '').split('/')
    if (!['pod', 'pods', 'po'].includes(kind) || name === '') throw new UsageError('name a pod as pod/<name>')
    const format = options.format ?? 'text'
    if (format !== 'text' && format !== 'json')
      throw new UsageError(`--format ${format}: only text and json are there yet`)
    const key = `${options.namespace ?? 'default'}/${name}`
    const explanation = await fetchExplanation(await readKubeconfig(options.kubeconfig, environment), key, signal)
    if (explanation === undefined)
      throw new UsageError(`the scheduler has decided nothing about pod ${key}, or has forgotten it`)
    out(format === 'json' ? `${JSON.stringify(explanation, undefined, 2)}\n` : textOf(explanation))
    return 0
  },
})

const heading = ({ pod, nodeName, message, schedulerName, at }: Explanation): string =>
  `${pod} ${nodeName === undefined ? `waits: ${message}` : `goes to ${nodeName}`}\n(${schedulerName} at ${at})\n`

/** Fitting nodes first, the best on top; then the others by reason. */
function textOf(explanation: Explanation): string {
  const rows = explanation.nodes
    .map((node) => [node.node, node.verdict, totalText(node), detailOf(node)] as const)
    .toSorted((a, b) => order(a).localeCompare(order(b)) || Number(b[2]) - Number(a[2]) || a[3].localeCompare(b[3]))
  const table = [['NODE', 'VERDICT', 'TOTAL', 'BECAUSE'] as const, ...rows]
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
  if (verdict === 'not asked') return 'enough nodes were found before'
  return Object.entries(scores)
    .map(([name, score]) => `${name} ${score}`)
    .join(', ')
}
