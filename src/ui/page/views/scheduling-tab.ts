// The decision of the scheduler about a pod: nodes × plugins, with verdicts, scores, and what would have to change.
import { html, nothing, type TemplateResult } from 'lit'
import type { App } from '../state/app.ts'
import type { NodeVerdict } from '../source/source.ts'

const nodesMax = 500

export function schedulingTab(app: App): TemplateResult {
  const { decision } = app.details
  if (decision === undefined) return html`<p class="empty">The scheduler keeps no decision about this pod.</p>`
  const { nodes, nodeName, message, schedulerName, at } = decision
  const plugins = [...new Set(nodes.flatMap(({ scores = {} }) => Object.keys(scores)))]
  return html`<p>${schedulerName} at ${at}: ${nodeName === undefined ? message : `bound to ${nodeName}`}</p>
    ${
      nodeName === undefined
        ? html`<ul class="changes">
            ${neededChanges(nodes).map((change) => html`<li>${change}</li>`)}
          </ul>`
        : nothing
    }
    <div class="scroll" tabindex="0" role="group" aria-label="Nodes and plugins">
      <table class="scheduling">
        <thead>
          <tr>
            <th scope="col">Node</th>
            <th scope="col">Verdict</th>
            ${plugins.map((plugin) => html`<th scope="col">${plugin}</th>`)}
            <th scope="col">Total</th>
          </tr>
        </thead>
        <tbody>
          ${nodes.slice(0, nodesMax).map((node) => nodeRow(node, plugins, nodeName))}
        </tbody>
      </table>
    </div>
    ${nodes.length > nodesMax ? html`<p>${nodes.length - nodesMax} further nodes are not shown.</p>` : nothing}`
}

function nodeRow(node: NodeVerdict, plugins: readonly string[], chosen: string | undefined): TemplateResult {
  const scores = new Map(Object.entries(node.scores ?? {}))
  const verdict =
    node.verdict === 'rejected' ? `${node.plugin ?? ''}: ${(node.reasons ?? []).join('; ')}` : node.verdict
  return html`<tr
    class=${[node.verdict === 'rejected' && 'failed', node.node === chosen && 'selected'].filter(Boolean).join(' ')}
  >
    <th scope="row">${node.node}</th>
    <td>${verdict}</td>
    ${plugins.map((plugin) => html`<td>${scores.get(plugin) ?? ''}</td>`)}
    <td>${node.total ?? ''}</td>
  </tr>`
}

/** What would have to change for the pod to fit, by the number of nodes that it concerns. */
export function neededChanges(nodes: readonly NodeVerdict[]): string[] {
  const counts = new Map<string, number>()
  for (const { verdict, plugin = '', reasons = [] } of nodes)
    if (verdict === 'rejected') {
      const key = `${reasons.join('; ')} (${plugin})`
      counts.set(key, (counts.get(key) ?? 0) + 1)
    }
  return [...counts]
    .toSorted(([, a], [, b]) => b - a)
    .map(([reason, count]) => `On ${count} ${count === 1 ? 'node' : 'nodes'} this would have to change: ${reason}`)
}
