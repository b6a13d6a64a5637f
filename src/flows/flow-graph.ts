// The flow graph of an object: which recorded event caused which. Events are linked by cause id, or by the revision of
// a write that a delivery or a request index.
import { append } from '../base/collections/append.ts'
import { runToEnd, type Slice, type Sliced } from '../base/work/work-slice.ts'
import { controllersSender } from '../api/coxswain/v1/flow-protocol.ts'
import { isRead } from '../base/observability/background-events.ts'
import type { FlowEvent, FlowId, FlowObject } from '../base/observability/flow-recorder.ts'
import type { Span } from '../base/observability/span.ts'
import { CauseInference } from './inferred-causes.ts'

export interface FlowNode {
  readonly event: FlowEvent
  /** The sender did not name a cause; the parent is inferred. */
  readonly isInferred: boolean
  /** The events that this one caused, in order of time. */
  readonly children: FlowNode[]
}

/** Resources that only report on others; left out unless the flow is about one of them. */
const secondaryResources = new Set(['events', 'leases'])

const isSame = (a: FlowObject | undefined, b: FlowObject): boolean =>
  a !== undefined && a.resource === b.resource && a.name === b.name && a.namespace === b.namespace

/** The trees of events that contain the object. Each root is a call or reconcile without a known cause. */
export const flowTreesOf = (events: Iterable<FlowEvent>, object: FlowObject): FlowNode[] =>
  runToEnd((slice) => flowTrees(events, object, slice))

/** Events between two checks of the slice. */
const eventsPerCheck = 100

/** As flowTreesOf, in slices: a record has tens of thousands of events. */
export function* flowTrees(events: Iterable<FlowEvent>, object: FlowObject, slice: Slice): Sliced<FlowNode[]> {
  let examined = 0
  const isUsedUp = () => ++examined % eventsPerCheck === 0 && slice.isUsedUp()
  const nodes = new Map<FlowId, FlowNode>()
  const index: EventIndex = { writes: new Map(), deliveries: new Map(), spans: new Map() }
  const inference = new CauseInference()
  const inferred = new Map<FlowId, FlowId>()
  for (const event of events) {
    if (isUsedUp()) yield
    const { resource } = event.object ?? object
    if (resource !== object.resource && secondaryResources.has(resource)) continue
    const cause = inference.infer(event)
    if (cause !== undefined) inferred.set(event.id, cause)
    nodes.set(event.id, { event, isInferred: cause !== undefined, children: [] })
    if (event.arrow === 'persist') index.writes.set(event.revision, event.id)
    if (event.arrow === 'watch' && event.object?.name !== '')
      index.deliveries.set(`${event.revision} ${event.to}`, event.id)
    if (event.span !== undefined) index.spans.set(event.span, event.id)
  }
  const isChild = new Set<FlowId>()
  for (const node of nodes.values()) {
    if (isUsedUp()) yield
    const parent = nodes.get(inferred.get(node.event.id) ?? parentOf(node.event, index))
    if (parent === undefined || parent === node) continue
    parent.children.push(node)
    isChild.add(node.event.id)
  }
  const concerns = (node: FlowNode): boolean => isSame(node.event.object, object) || node.children.some(concerns)
  const trees: FlowNode[] = []
  for (const node of nodes.values()) {
    if (isUsedUp()) yield
    if (!isChild.has(node.event.id) && concerns(node)) append(trees, prune(node))
  }
  return trees
}

/** Events by other identifiers than their ids. */
interface EventIndex {
  readonly writes: Map<number, FlowId>
  /** By revision and receiver. */
  readonly deliveries: Map<string, FlowId>
  readonly spans: Map<Span, FlowId>
}

function parentOf({ arrow, from, cause, revision }: FlowEvent, { writes, deliveries, spans }: EventIndex): FlowId {
  if (arrow === 'watch') return writes.get(revision) ?? cause.event
  if (cause.event !== 0) return cause.event
  // A sender in another process names the span that caused its call, or the revisions that it reacts to; the newest
  // counts.
  const bySpan = cause.span === undefined ? undefined : spans.get(cause.span)
  if (bySpan !== undefined) return bySpan
  const newest = Math.max(0, ...cause.revisions)
  const watcher = from.startsWith('controller/') ? controllersSender : from
  return deliveries.get(`${newest} ${watcher}`) ?? writes.get(newest) ?? cause.event
}

/** Removes deliveries, reconciles and reads that caused nothing. */
function prune({ event, isInferred, children }: FlowNode): FlowNode[] {
  const kept = children.flatMap(prune)
  const isPassive = event.arrow === 'watch' || event.arrow === 'reconcile'
  if ((isPassive || (event.arrow === 'call' && isRead(event.what))) && kept.length === 0) return []
  return event.arrow === 'watch' ? byReceiver(event, kept) : [{ event, isInferred, children: kept }]
}

/** Controllers share watches, so a delivery is drawn once for each component that it triggered. */
function byReceiver(event: FlowEvent, children: readonly FlowNode[]): FlowNode[] {
  const triggered = Map.groupBy(children, (child) => child.event.from)
  return [...triggered].map(([to, own]) => ({ event: { ...event, to }, isInferred: false, children: own }))
}
