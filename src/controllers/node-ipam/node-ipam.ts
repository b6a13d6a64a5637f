// Node IPAM: assigns a pod address range to every node. No range is assigned to two nodes.
import type { Context } from '../../base/observability/context.ts'
import { node, type Node } from '../../api/core/v1/node/node.ts'
import { hasReason } from '../../api/errors/status-error.ts'
import { defineController, type ReconcileTools } from '../runtime/controller.ts'
import type { NodeRangeSettings } from '../runtime/controller-settings.ts'
import { RangePool } from './range-pool.ts'

interface State {
  /**
   * The ranges of each node, by name, including those about to be written. They are released when the node is deleted.
   */
  readonly held: Map<string, readonly string[]>
  /** Nodes for which no range was free. */
  readonly waiting: Set<string>
  pools: readonly RangePool[] | undefined
}

type Tools = ReconcileTools<State>

export const nodeIpamController = defineController({
  name: 'node-ipam',
  account: 'node-controller',
  component: 'cidrAllocator',
  watches: [node],
  state: (): State => ({ held: new Map(), waiting: new Set(), pools: undefined }),
  enqueues(_, { key, now, before }, { state, settings }) {
    const pools = poolsOf(state, settings.nodeRanges)
    if (pools.length === 0) return []
    if (now === undefined || (before !== undefined && before.metadata.uid !== now.metadata.uid)) {
      hold(state, pools, key, [])
      state.waiting.delete(key)
    }
    const ranges = now === undefined ? [] : rangesOf(now as Node)
    if (ranges.length > 0) hold(state, pools, key, ranges)
    const withoutRange = now !== undefined && ranges.length === 0 ? [key] : []
    return now === undefined ? [...state.waiting] : withoutRange
  },
  async reconcile(key, tools, context) {
    const { cached, state } = tools
    const object = cached(node, key)
    if (object === undefined || rangesOf(object).length > 0) return undefined
    const ranges = state.held.get(key) ?? take(key, tools)
    if (ranges === undefined) {
      if (!state.waiting.has(key)) recordStatus(object, 'CIDRNotAvailable', tools, context)
      state.waiting.add(key)
      return undefined
    }
    state.waiting.delete(key)
    await give(object, ranges, tools, context)
    return undefined
  },
})

const rangesOf = ({ spec }: Node): readonly string[] =>
  spec.podCIDRs ?? (spec.podCIDR === undefined ? [] : [spec.podCIDR])

function poolsOf(state: State, settings: NodeRangeSettings | undefined): readonly RangePool[] {
  if (state.pools !== undefined) return state.pools
  const pools = (settings?.ranges ?? []).map((ranges) => new RangePool(ranges))
  for (const pool of pools) for (const cidr of settings?.reserved ?? []) pool.reserve(cidr)
  state.pools = pools
  return pools
}

/** Replaces the ranges of the node. */
function hold({ held }: State, pools: readonly RangePool[], name: string, ranges: readonly string[]): void {
  for (const pool of pools) {
    for (const range of ranges) pool.reserve(range)
    for (const range of held.get(name) ?? []) pool.release(range)
  }
  if (ranges.length === 0) held.delete(name)
  else held.set(name, ranges)
}

/** Takes one range of every family; undefined when one family has none left. */
function take(name: string, { state, settings }: Tools): readonly string[] | undefined {
  const pools = poolsOf(state, settings.nodeRanges)
  const taken = pools.map((pool) => pool.take())
  const ranges = taken.filter((range) => range !== undefined)
  if (ranges.length === pools.length) {
    state.held.set(name, ranges)
    return ranges
  }
  for (const [index, pool] of pools.entries()) if (taken[index] !== undefined) pool.release(taken[index])
  return undefined
}

async function give(object: Node, podCIDRs: readonly string[], tools: Tools, context: Context): Promise<void> {
  const { name, uid } = object.metadata
  const patch = { metadata: { uid }, spec: { podCIDR: podCIDRs[0], podCIDRs } }
  try {
    await tools.client.of(node).patch(name, '', patch, 'strategic', context)
  } catch (error) {
    // The node was deleted or replaced by another of the same name, which has its own key in the queue.
    if (hasReason(error, 'NotFound') || hasReason(error, 'Conflict')) return
    recordStatus(object, 'CIDRAssignmentFailed', tools, context)
    throw error
  }
}

const recordStatus = (object: Node, reason: string, { recordEvent }: Tools, context: Context): void =>
  recordEvent(
    object,
    { type: 'Normal', reason, message: `Node ${object.metadata.name} status is now: ${reason}` },
    context,
  )
