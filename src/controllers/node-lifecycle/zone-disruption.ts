// Zones: how fast the pods of dead nodes may be moved. Where many nodes die at once it is rather the network that died,
// and moving their pods would only make it worse.
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import { isNodeReady, type Node } from '../../api/core/v1/node/node.ts'

/** Nodes per second whose pods begin to go. */
const evictionRate = 0.1
const evictionRateDisrupted = 0.01
/** Smaller zones do not evict at all while they are disrupted. */
const largeZoneNodes = 50
const disruptedShare = 0.55
const disruptedNodesMin = 3

export const zoneOf = ({ metadata: { labels = {} } }: Node): string =>
  `${labels['topology.kubernetes.io/region'] ?? ''}/${labels['topology.kubernetes.io/zone'] ?? ''}`

type ZoneState = 'normal' | 'partial' | 'full'

interface Zone {
  nodes: number
  unready: number
}

function stateOf({ nodes, unready }: Zone): ZoneState {
  if (unready > 0 && unready === nodes) return 'full'
  return unready >= disruptedNodesMin && unready / nodes >= disruptedShare ? 'partial' : 'normal'
}

/** How many nodes each zone has, and how many of them are not ready: kept up to date, since thousands may die at once. */
export class ZoneDisruption {
  readonly #zones = new Map<string, Zone>()

  /** A node has come, has changed or is gone. */
  update(before: Node | undefined, now: Node | undefined): void {
    if (before !== undefined) this.#count(before, -1)
    if (now !== undefined) this.#count(now, 1)
  }

  /** How many milliseconds lie between evictions in the zone; Infinity stops them. */
  evictionIntervalMs(zone: string): number {
    const own = this.#zones.get(zone)
    if (own === undefined) return Infinity
    // When nothing answers anywhere, it is we who are cut off.
    if (this.#zones.values().every((each) => stateOf(each) === 'full')) return Infinity
    if (stateOf(own) !== 'partial') return 1000 / evictionRate
    return own.nodes > largeZoneNodes ? 1000 / evictionRateDisrupted : Infinity
  }

  #count(node: Node, by: 1 | -1): void {
    const name = zoneOf(node)
    const zone = getOrInsert(this.#zones, name, () => ({ nodes: 0, unready: 0 }))
    zone.nodes += by
    if (!isNodeReady(node)) zone.unready += by
    if (zone.nodes === 0) this.#zones.delete(name)
  }
}
