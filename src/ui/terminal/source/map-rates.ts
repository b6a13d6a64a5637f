// mapRates: the participants of recorded messages in columns, and the rate of messages and errors between two of them.
import type { FlowEvent } from '../../../base/observability/flow-recorder.ts'
import { hasFailed } from '../../../flows/diagram-colors.ts'
import type { MapLine } from '../state/views.ts'

/** The window over which rates are averaged. */
export const rateWindowMs = 5_000
/** If there are more kubelets, they share one name. */
const kubeletsMax = 6

/** Clients, the API server and its store, controllers, nodes. */
function columnOf(participant: string): 0 | 1 | 2 | 3 {
  if (participant === 'API Server' || participant === 'Store') return 1
  if (/^(controllers?\b|scheduler)/.test(participant)) return 2
  return /^(kubelet|proxy|dns|Runtime|Network|Volumes|Ingress|csi\/|cloud\/)/.test(participant) ? 3 : 0
}

export function mapRates(
  events: Iterable<FlowEvent>,
  nowMs: number,
): { readonly columns: readonly (readonly string[])[]; readonly lines: readonly MapLine[] } {
  const all = [...events]
  const names = new Set(all.flatMap(({ from, to }) => [from, to]))
  const areFolded = [...names].filter((name) => name.startsWith('kubelet/')).length > kubeletsMax
  const nameOf = (name: string): string => (areFolded && name.startsWith('kubelet/') ? 'kubelet' : name)
  const counts = new Map<string, { from: string; to: string; messages: number; errors: number }>()
  for (const event of all) {
    const [from, to] = [nameOf(event.from), nameOf(event.to)].toSorted() as [string, string]
    if (from === to) continue
    const id = `${from}>${to}`
    const line = counts.get(id) ?? { from, to, messages: 0, errors: 0 }
    counts.set(id, line)
    if (event.atMs <= nowMs - rateWindowMs) continue
    line.messages++
    if (hasFailed(event)) line.errors++
  }
  const perSecond = (count: number): number => count / (rateWindowMs / 1_000)
  const shown = [...new Set([...names].map(nameOf))].toSorted()
  return {
    columns: ([0, 1, 2, 3] as const).map((column) => shown.filter((name) => columnOf(name) === column)),
    lines: [...counts]
      .map(([id, { from, to, messages, errors }]) => ({
        id,
        from,
        to,
        perSecond: perSecond(messages),
        errorsPerSecond: perSecond(errors),
      }))
      .toSorted((a, b) => b.perSecond - a.perSecond || (a.id < b.id ? -1 : 1)),
  }
}
