// ZoneDisruption: the eviction rate of each zone. When many nodes of a zone stop reporting at once the cause is
// probably the network, and evictions would do harm.
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import { isNodeReady, type Node } from '../../api/core/v1/node/node.ts'
import type { ZoneSize } from '../metrics/node-metrics.ts'
import type { NodeLifecycleSettings } from '../runtime/controller-settings.ts'

export const nodeLifecycleDefaults: NodeLifecycleSettings = {
  graceMs: 50_000,
  startupGraceMs: 60_000,
  evictionRate: 0.1,
  disruptedEvictionRate: 0.01,
  largeZoneNodes: 50,
  disruptedShare: 0.55,
}

const disruptedNodesMin = 3

/** The zone of a node, as upstream's metrics name it: empty where it has neither region nor zone. */
export function zoneOf({ metadata: { labels = {} } }: Node): string {
  const [region = '', zone = ''] = [labels['topology.kubernetes.io/region'], labels['topology.kubernetes.io/zone']]
  return region === '' && zone === '' ? '' : `${region}:\0:${zone}`
}

type ZoneState = 'normal' | 'partial' | 'full'

type Zone = { -readonly [Name in keyof ZoneSize]: ZoneSize[Name] }

function stateOf({ nodes, unready }: Zone, { disruptedShare }: NodeLifecycleSettings): ZoneState {
  if (unready > 0 && unready === nodes) return 'full'
  return unready >= disruptedNodesMin && unready / nodes >= disruptedShare ? 'partial' : 'normal'
}

/** Counts the nodes and the unready nodes of each zone incrementally, because thousands may change at once. */
export class ZoneDisruption {
  readonly #zones = new Map<string, Zone>()

  /** Processes an added, changed or deleted node. */
  update(before: Node | undefined, now: Node | undefined): void {
    if (before !== undefined) this.#count(before, -1)
    if (now !== undefined) this.#count(now, 1)
  }

  /** The time between two evictions in the zone; Infinity suspends them. */
  evictionIntervalMs(zone: string, settings = nodeLifecycleDefaults): number {
    const own = this.#zones.get(zone)
    if (own === undefined) return Infinity
    // When all zones are fully disrupted, this controller is probably disconnected.
    if (this.#zones.values().every((each) => stateOf(each, settings) === 'full')) return Infinity
    // At a rate of 0 nothing is evicted.
    if (stateOf(own, settings) !== 'partial') return 1000 / settings.evictionRate
    return own.nodes > settings.largeZoneNodes ? 1000 / settings.disruptedEvictionRate : Infinity
  }

  sizeOf(zone: string): ZoneSize | undefined {
    return this.#zones.get(zone)
  }

  #count(node: Node, by: 1 | -1): void {
    const name = zoneOf(node)
    const zone = getOrInsert(this.#zones, name, () => ({ nodes: 0, unready: 0 }))
    zone.nodes += by
    if (!isNodeReady(node)) zone.unready += by
    if (zone.nodes === 0) this.#zones.delete(name)
  }
}
