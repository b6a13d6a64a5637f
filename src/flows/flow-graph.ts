// The graph of one object's life: which recorded event led to which. Causes link directly, or through the revision
// that a write made and a delivery or a request names.
import type { FlowEvent, FlowId, FlowObject } from '../base/flow.ts'

export interface FlowNode {
  readonly event: FlowEvent
  /** What this event led to, in the order of time. */
  readonly children: FlowNode[]
}

/** Resources whose writes only tell of others; left out unless they are asked for. */
const chatter = new Set(['events', 'leases'])

const isSame = (a: FlowObject | undefined, b: FlowObject): boolean =>
  a !== undefined && a.resource === b.resource && a.name === b.name && a.namespace === b.namespace

/** The trees that begin with the calls and reconciles that concern the object, and hold all that followed. */
export function lifeOf(events: Iterable<FlowEvent>, object: FlowObject): FlowNode[] {
  const nodes = new Map<FlowId, FlowNode>()
  const writes = new Map<number, FlowId>()
  for (const event of events) {
    const { resource } = event.object ?? object
    if (resource !== object.resource && chatter.has(resource)) continue
    nodes.set(event.id, { event, children: [] })
    if (event.arrow === 'persist') writes.set(event.revision, event.id)
  }
  const isChild = new Set<FlowId>()
  for (const node of nodes.values()) {
    const parent = nodes.get(parentOf(node.event, writes))
    if (parent === undefined || parent === node) continue
    parent.children.push(node)
    isChild.add(node.event.id)
  }
  const concerned = (node: FlowNode): boolean => isSame(node.event.object, object) || node.children.some(concerned)
  const roots = [...nodes.values()].filter(({ event }) => !isChild.has(event.id))
  return roots.filter(concerned).flatMap(pruned)
}

function parentOf({ arrow, cause, revision }: FlowEvent, writes: ReadonlyMap<number, FlowId>): FlowId {
  if (arrow === 'watch') return writes.get(revision) ?? cause.event
  if (cause.event !== 0) return cause.event
  // A sender in another process names only the revisions that woke it; the newest counts.
  return writes.get(Math.max(0, ...cause.revisions)) ?? cause.event
}

/** Deliveries that woke nobody, looks that changed nothing and mere reads explain nothing. */
function pruned({ event, children }: FlowNode): FlowNode[] {
  const kept = children.flatMap(pruned)
  const isSilent = event.arrow === 'watch' || event.arrow === 'reconcile'
  const isRead = event.arrow === 'call' && /^(get|list|watch) /.test(event.what)
  if ((isSilent || isRead) && kept.length === 0) return []
  return event.arrow === 'watch' ? byReceiver(event, kept) : [{ event, children: kept }]
}

/** Components share their watches: a delivery is drawn once to each that it woke. */
function byReceiver(event: FlowEvent, children: readonly FlowNode[]): FlowNode[] {
  const woken = Map.groupBy(children, (child) => child.event.from)
  return [...woken].map(([to, own]) => ({ event: { ...event, to }, children: own }))
}
