// Folding of participants: many kubelets share one lifeline, so that a hundred pods on fifty nodes fit on a screen. A
// few kubelets keep their own lifelines.
import type { FlowEvent } from '../base/observability/flow-recorder.ts'
import type { FlowNode } from './flow-graph.ts'

/** If there are more kubelets, they share one lifeline. */
const kubeletLifelinesMax = 3

const prefix = 'kubelet/'

/** Replaces the names of nodes whose kubelets share a lifeline. */
const anyNode = '<node>'

export function foldParticipants(roots: readonly FlowNode[]): readonly FlowNode[] {
  const nodeNames = new Set<string>()
  collect(roots, nodeNames)
  if (nodeNames.size <= kubeletLifelinesMax) return roots
  const label = `${nodeNames.size} kubelets`
  const rename = (participant: string): string => (participant.startsWith(prefix) ? label : participant)
  const renamed = (node: FlowNode): FlowNode => {
    const { event } = node
    return {
      ...node,
      event: { ...event, from: rename(event.from), to: rename(event.to), what: withoutNodes(event, nodeNames) },
      children: node.children.map(renamed),
    }
  }
  return roots.map(renamed)
}

function collect(nodes: readonly FlowNode[], names: Set<string>): void {
  for (const { event, children } of nodes) {
    for (const participant of [event.from, event.to])
      if (participant.startsWith(prefix)) names.add(participant.slice(prefix.length))
    collect(children, names)
  }
}

/** Replaces node names in a text: `Reserve node-30` becomes `Reserve <node>`. Events about a node keep its name. */
const withoutNodes = ({ what, object }: FlowEvent, names: ReadonlySet<string>): string =>
  object?.resource === 'nodes'
    ? what
    : what
        .split(' ')
        .map((word) => (names.has(word) ? anyNode : word))
        .join(' ')

/**
 * For a live diagram: the first kubelets get their own lifelines; later ones share one, and the text names the node.
 */
export function foldLateKubelets(): (event: FlowEvent) => FlowEvent {
  const own = new Set<string>()
  const isFolded = (participant: string): boolean => {
    if (!participant.startsWith(prefix) || own.has(participant)) return false
    if (own.size < kubeletLifelinesMax) own.add(participant)
    return !own.has(participant)
  }
  return (event) => {
    const from = isFolded(event.from)
    const to = isFolded(event.to)
    if (!from && !to) return event
    const nodeName = (from ? event.from : event.to).slice(prefix.length)
    return {
      ...event,
      from: from ? otherKubelets : event.from,
      to: to ? otherKubelets : event.to,
      what: `[${nodeName}] ${event.what}`,
    }
  }
}

const otherKubelets = 'other kubelets'
