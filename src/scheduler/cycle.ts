// One scheduling cycle as a pure decision: filter every node, score those that fit, choose. Verdicts are kept.
import type { Random } from '../base/random.ts'
import type { Cycle, SchedulerPlugin, Verdict } from './framework.ts'
import { fits } from './framework.ts'
import type { NodeState } from './snapshot.ts'

export interface NodeVerdict {
  readonly plugin: string
  readonly verdict: Verdict
}

export type Decision =
  | {
      readonly kind: 'chosen'
      readonly nodeName: string
      readonly scores: ReadonlyMap<string, number>
      readonly rejected: ReadonlyMap<string, NodeVerdict>
    }
  | { readonly kind: 'unschedulable'; readonly message: string; readonly rejected: ReadonlyMap<string, NodeVerdict> }

export function decide(cycle: Cycle, plugins: readonly SchedulerPlugin[], random: Random): Decision {
  const rejected = new Map<string, NodeVerdict>()
  const feasible: NodeState[] = []
  const first = plugins.find((plugin) => plugin.preFilter?.(cycle).kind === 'rejected')
  for (const node of cycle.snapshot.nodes) {
    const { name } = node.node.metadata
    const found =
      first === undefined
        ? firstRejection(cycle, node, plugins)
        : { plugin: first.name, verdict: first.preFilter?.(cycle) ?? fits }
    if (found === undefined) feasible.push(node)
    else rejected.set(name, found)
  }
  if (feasible.length === 0) return { kind: 'unschedulable', message: summary(cycle.snapshot.size, rejected), rejected }
  const scores = scoreNodes(cycle, feasible, plugins)
  return { kind: 'chosen', nodeName: best(scores, random), scores, rejected }
}

function firstRejection(cycle: Cycle, node: NodeState, plugins: readonly SchedulerPlugin[]): NodeVerdict | undefined {
  for (const plugin of plugins) {
    const verdict = plugin.filter?.(cycle, node) ?? fits
    if (verdict.kind === 'rejected') return { plugin: plugin.name, verdict }
  }
  return undefined
}

function scoreNodes(
  cycle: Cycle,
  nodes: readonly NodeState[],
  plugins: readonly SchedulerPlugin[],
): Map<string, number> {
  const totals = new Map(nodes.map(({ node }) => [node.metadata.name, 0]))
  for (const plugin of plugins) {
    plugin.preScore?.(cycle, nodes)
    if (plugin.score === undefined) continue
    const scores = new Map(nodes.map((node) => [node.node.metadata.name, plugin.score?.(cycle, node) ?? 0]))
    plugin.normalizeScores?.(scores)
    for (const [name, score] of scores) totals.set(name, (totals.get(name) ?? 0) + score * (plugin.weight ?? 1))
  }
  return totals
}

function best(scores: ReadonlyMap<string, number>, random: Random): string {
  const most = Math.max(...scores.values())
  const winners = [...scores].filter(([, score]) => score === most).map(([name]) => name)
  return winners[winners.length === 1 ? 0 : random.below(winners.length)] ?? ''
}

/** `0/5 nodes are available: 2 Insufficient cpu, 3 node(s) had untolerated taint {a: b}.` */
function summary(nodeCount: number, rejected: ReadonlyMap<string, NodeVerdict>): string {
  if (nodeCount === 0) return 'no nodes available to schedule pods'
  const counts = new Map<string, number>()
  for (const { verdict } of rejected.values())
    if (verdict.kind === 'rejected')
      for (const reason of verdict.reason.split(', ')) counts.set(reason, (counts.get(reason) ?? 0) + 1)
  const reasons = [...counts].map(([reason, count]) => `${count} ${reason}`).toSorted()
  return `0/${nodeCount} nodes are available: ${reasons.join(', ')}.`
}
