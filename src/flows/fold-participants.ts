// Folding of participants: many kubelets share one lifeline, so that a hundred pods on fifty nodes fit on a screen. A
// few kubelets keep their own lifelines.
import type { FlowEvent } from '../base/observability/flow-recorder.ts'
import type { FlowNode } from './flow-graph.ts'

/** If there are more kubelets, they share one lifeline. */
const kubeletLifelinesMax = 3

const prefix = 'kubelet/'

/** Replaces the names of nodes whose kubelets share a lifeline. */
const anyNode = '<node>'

/** The lifeline of each participant; participants with the same one share it. */
export type LifelineOf = (participant: string) => string

/** Which of the participants of a diagram share lifelines. */
export type ShareLifelines = (participants: ReadonlySet<string>) => LifelineOf

export function foldParticipants(
  roots: readonly FlowNode[],
  share: ShareLifelines = shareOfKubelets,
): readonly FlowNode[] {
  const participants = new Set<string>()
  collect(roots, participants)
  const folded = foldedEvent(participants, share(participants))
  const renamed = (node: FlowNode): FlowNode => ({
    ...node,
    event: folded(node.event),
    children: node.children.map(renamed),
  })
  return roots.map(renamed)
}

/** The events of a diagram with its lifelines as participants. */
export function foldedEvent(participants: Iterable<string>, lifelineOf: LifelineOf): (event: FlowEvent) => FlowEvent {
  const shared = [...participants].filter((name) => lifelineOf(name) !== name)
  const nodeNames = new Set(shared.flatMap((name) => (name.startsWith(prefix) ? name.slice(prefix.length) : [])))
  if (shared.length === 0) return (event) => event
  return (event) => ({
    ...event,
    from: lifelineOf(event.from),
    to: lifelineOf(event.to),
    what: withoutNodes(event, nodeNames),
  })
}

const shareOfKubelets: ShareLifelines = (participants) => {
  const kubelets = [...participants].filter((name) => name.startsWith(prefix)).length
  return (name) => (kubelets > kubeletLifelinesMax && name.startsWith(prefix) ? `${kubelets} kubelets` : name)
}

function collect(nodes: readonly FlowNode[], participants: Set<string>): void {
  for (const { event, children } of nodes) {
    participants.add(event.from).add(event.to)
    collect(children, participants)
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
