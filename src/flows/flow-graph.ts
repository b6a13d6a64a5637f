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
  const causes = new CauseIndex()
  for (const event of events) {
    if (isUsedUp()) yield
    const { resource } = event.object ?? object
    if (resource !== object.resource && secondaryResources.has(resource)) continue
    nodes.set(event.id, { event, isInferred: causes.add(event), children: [] })
  }
  const isChild = new Set<FlowId>()
  for (const node of nodes.values()) {
    if (isUsedUp()) yield
    const parent = nodes.get(causes.causeOf(node.event))
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

/** Finds the causes of events, some of which name them by other identifiers than ids, or not at all. */
export class CauseIndex {
  readonly #writes = new Map<number, FlowId>()
  /** By revision and receiver. */
  readonly #deliveries = new Map<string, FlowId>()
  readonly #spans = new Map<Span, FlowId>()
  readonly #inference = new CauseInference()
  readonly #inferred = new Map<FlowId, FlowId>()

  /** Must be called with all events in order. Returns whether the cause is inferred. */
  add(event: FlowEvent): boolean {
    const { id, arrow, revision, span } = event
    const cause = this.#inference.infer(event)
    if (cause !== undefined) this.#inferred.set(id, cause)
    if (arrow === 'persist') this.#writes.set(revision, id)
    if (arrow === 'watch' && event.object?.name !== '') this.#deliveries.set(`${revision} ${event.to}`, id)
    if (span !== undefined) this.#spans.set(span, id)
    return cause !== undefined
  }

  /** The cause of an event, once all events are there; 0 if it is not known. */
  causeOf({ id, arrow, from, cause, revision }: FlowEvent): FlowId {
    const inferred = this.#inferred.get(id)
    if (inferred !== undefined) return inferred
    if (arrow === 'watch') return this.#writes.get(revision) ?? cause.event
    if (cause.event !== 0) return cause.event
    // A sender in another process names the span that caused its call, or the revisions that it reacts to; the newest
    // counts.
    const bySpan = cause.span === undefined ? undefined : this.#spans.get(cause.span)
    if (bySpan !== undefined) return bySpan
    const newest = Math.max(0, ...cause.revisions)
    const watcher = from.startsWith('controller/') ? controllersSender : from
    return this.#deliveries.get(`${newest} ${watcher}`) ?? this.#writes.get(newest) ?? cause.event
  }
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
