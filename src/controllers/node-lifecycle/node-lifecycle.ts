// Node lifecycle: sets the conditions of a node without heartbeats to Unknown, turns conditions into taints, and marks
// the pods of nodes that are not ready. The taint eviction controller evicts them.
import { rfc3339 } from '../../base/time/clock.ts'
import type { Context } from '../../base/observability/context.ts'
import { lease } from '../../api/coordination/v1/lease.ts'
import { isNodeReady, node, type Node } from '../../api/core/v1/node/node.ts'
import { isPodReady, podCondition } from '../../api/core/v1/pod/pod-readiness.ts'
import { pod, type Pod } from '../../api/core/v1/pod/pod.ts'
import { isBeingDeleted, namespaceOf, splitKey, type ApiObject } from '../../api/meta/object.ts'
import { hasReason } from '../../api/errors/status-error.ts'
import { equalValues } from '../../schema/json/json-value.ts'
import { defineController, type ReconcileTools } from '../runtime/controller.ts'
import type { NodeMetrics } from '../metrics/node-metrics.ts'
import { podsByNode } from '../workload/pods-by-node.ts'
import { readyCondition, unknownConditions } from './node-conditions.ts'
import { changedTaints, evictionState } from './node-taints.ts'
import { nodeLifecycleDefaults, zoneOf, ZoneDisruption } from './zone-disruption.ts'

const leaseNamespace = 'kube-node-lease'
/** How soon a node is checked again whose eviction is suspended. */
const suspendedRecheckMs = 5_000

interface State {
  /** The uids of nodes whose registration event was recorded, by name. */
  readonly known: Map<string, string>
  /** When the last heartbeat of a node was observed, by the local clock: the clocks of nodes may differ. */
  readonly heartbeatMs: Map<string, number>
  /** Nodes that were ready at the last reconcile. */
  readonly ready: Set<string>
  readonly zones: ZoneDisruption
  /** When the next eviction in a zone is allowed. */
  readonly nextEvictionMs: Map<string, number>
}

type Tools = ReconcileTools<State>

const settingsOf = ({ settings }: Tools) => settings.nodeLifecycle ?? nodeLifecycleDefaults

export const nodeLifecycleController = defineController({
  name: 'node-lifecycle',
  account: 'node-controller',
  watches: [lease, node, pod],
  indexes: [podsByNode],
  state: (): State => ({
    known: new Map(),
    heartbeatMs: new Map(),
    ready: new Set(),
    zones: new ZoneDisruption(),
    nextEvictionMs: new Map(),
  }),
  enqueues(kind, { key, now, before }, { state, nowMs, cached, metrics }) {
    if (kind.kind === lease.kind) {
      const { namespace, name } = splitKey(key)
      // A heartbeat enqueues nothing.
      if (namespace === leaseNamespace && now !== undefined) state.heartbeatMs.set(name, nowMs)
      return []
    }
    if (kind.kind === pod.kind) {
      const nodeNames = nodeOfReadyPod(now as Pod | undefined, before as Pod | undefined)
      // Pods of a ready node need no change.
      return nodeNames.filter((name) => !isReady(cached(node, name)))
    }
    updateZones(before as Node | undefined, now as Node | undefined, state.zones, metrics.node)
    if (now === undefined) {
      state.heartbeatMs.delete(key)
      state.ready.delete(key)
    } else if (hasHeartbeat(now as Node, before as Node | undefined)) state.heartbeatMs.set(key, nowMs)
    return [key]
  },
  async reconcile(key, tools, context) {
    const object = tools.cached(node, key)
    recordPresence(key, object, tools, context)
    if (object === undefined) return undefined
    const startMs = tools.monotonicMs
    const sinceHeartbeatMs = tools.nowMs - (tools.state.heartbeatMs.get(key) ?? 0)
    const { startupGraceMs, graceMs } = settingsOf(tools)
    const allowedMs = readyCondition(object) === undefined ? startupGraceMs : graceMs
    const isUpdated = sinceHeartbeatMs >= allowedMs && (await setUnknown(object, tools, context))
    tools.metrics.node.updateSeconds.observe((tools.monotonicMs - startMs) / 1000)
    if (isUpdated) return undefined
    recordTransition(object, tools, context)
    const againMs = await taint(object, tools, context)
    if (!isNodeReady(object)) await markPods(object, tools, context)
    const graceLeftMs = sinceHeartbeatMs < allowedMs ? allowedMs - sinceHeartbeatMs : undefined
    return againMs ?? graceLeftMs
  },
})

/** Counts a changed node in its zone. A heartbeat changes nothing there. */
export function updateZones(
  before: Node | undefined,
  now: Node | undefined,
  zones: ZoneDisruption,
  metrics: NodeMetrics,
): void {
  const zoneBefore = before && zoneOf(before)
  const zone = now && zoneOf(now)
  if (zoneBefore === zone && isReady(before) === isReady(now)) return
  zones.update(before, now)
  if (zoneBefore !== undefined) metrics.setZone(zoneBefore, zones.sizeOf(zoneBefore))
  if (zone !== undefined && zone !== zoneBefore) metrics.setZone(zone, zones.sizeOf(zone))
}

const isReady = (object: Node | undefined): boolean => object !== undefined && isNodeReady(object)

const hasHeartbeat = (now: Node, before: Node | undefined): boolean =>
  before === undefined ||
  !equalValues(readyCondition(now)?.lastHeartbeatTime, readyCondition(before)?.lastHeartbeatTime)

/** The node of a pod that has become ready. */
function nodeOfReadyPod(now: Pod | undefined, before: Pod | undefined): readonly string[] {
  const nodeName = now?.spec.nodeName
  if (now === undefined || nodeName === undefined || !isPodReady(now)) return []
  return before !== undefined && isPodReady(before) ? [] : [nodeName]
}

/** Sets the node's conditions to Unknown. Returns false if they already are. */
async function setUnknown(object: Node, { client, nowMs }: Tools, context: Context): Promise<boolean> {
  const conditions = unknownConditions(object, rfc3339(nowMs))
  if (conditions === undefined) return false
  await client.of(node).updateStatus({ ...object, status: { ...object.status, conditions } }, context)
  return true
}

/** Records events for added and removed nodes. A node with the same name and another uid is a new node. */
function recordPresence(name: string, object: Node | undefined, { state, recordEvent }: Tools, context: Context): void {
  const known = state.known.get(name)
  const uid = object?.metadata.uid
  if (known === uid) return
  const record = (reason: string, what: string, ofUid: string) =>
    recordEvent(
      { apiVersion: node.apiVersion, kind: node.kind, metadata: { name, uid: ofUid } } as ApiObject,
      {
        type: 'Normal',
        reason,
        message: `Node ${name} event: ${what} Node ${name} ${reason === 'RegisteredNode' ? 'in' : 'from'} Controller`,
      },
      context,
    )
  if (known !== undefined) record('RemovingNode', 'Removing', known)
  state.known.delete(name)
  if (uid === undefined) return
  record('RegisteredNode', 'Registered', uid)
  state.known.set(name, uid)
}

function recordTransition(object: Node, { state, recordEvent }: Tools, context: Context): void {
  const { name } = object.metadata
  if (isNodeReady(object)) state.ready.add(name)
  else if (state.ready.delete(name)) {
    const message = `Node ${name} status is now: NodeNotReady`
    recordEvent(object, { type: 'Normal', reason: 'NodeNotReady', message }, context)
  }
}

/** Updates the taints from the conditions. Returns the delay if eviction has to wait. */
async function taint(object: Node, tools: Tools, context: Context): Promise<number | undefined> {
  const { client, nowMs, state } = tools
  const waitMs = evictionWaitMs(object, tools)
  const changed = changedTaints(object, waitMs === 0, rfc3339(nowMs))
  if (changed !== undefined) {
    const { taints: _, ...spec } = object.spec
    const taints = changed.length === 0 ? {} : { taints: changed }
    await client.of(node).update({ ...object, spec: { ...spec, ...taints } }, context)
    const zone = zoneOf(object)
    if (waitMs === 0 && evictionState(object) === 'due') {
      state.nextEvictionMs.set(zone, nowMs + state.zones.evictionIntervalMs(zone, settingsOf(tools)))
      tools.metrics.node.evictions.add({ zone })
    }
  }
  return waitMs === 0 ? undefined : waitMs
}

/** How long until pods may be evicted from the node; 0 if they may be now, or need not be. */
function evictionWaitMs(object: Node, tools: Tools): number {
  const { nowMs, state } = tools
  const eviction = evictionState(object)
  if (eviction === 'none') return 0
  const zone = zoneOf(object)
  // When no node reports, evictions that have begun are suspended too.
  if (state.zones.evictionIntervalMs(zone, settingsOf(tools)) === Infinity) return suspendedRecheckMs
  if (eviction === 'evicting') return 0
  return Math.max(0, (state.nextEvictionMs.get(zone) ?? 0) - nowMs)
}

/** Sets pods that were ready when their node became not ready to not ready. Later updates by the kubelet are kept. */
async function markPods(object: Node, { client, byIndex, nowMs, recordEvent }: Tools, context: Context): Promise<void> {
  const since = readyCondition(object)?.lastTransitionTime
  if (!since) return
  for (const each of byIndex(podsByNode, object.metadata.name)) {
    const ready = podCondition(each, 'Ready')
    if (ready?.status !== 'True' || isBeingDeleted(each)) continue
    if (Date.parse(ready.lastTransitionTime ?? since) > Date.parse(since)) continue
    const { name, uid } = each.metadata
    const condition = { type: 'Ready', status: 'False', lastTransitionTime: rfc3339(nowMs) }
    try {
      const patch = { metadata: { uid }, status: { conditions: [condition] } }
      await client.of(pod).patch(name, namespaceOf(each), patch, 'strategic', context, 'status')
      recordEvent(each, { type: 'Warning', reason: 'NodeNotReady', message: 'Node is not ready' }, context)
    } catch (error) {
      if (!hasReason(error, 'NotFound') && !hasReason(error, 'Conflict')) throw error
    }
  }
}
