// Zones: how fast the pods of dead nodes may be moved. Where many nodes die at once it is rather the network that died,
// and moving their pods would only make it worse.
import { isNodeReady, type Node } from '../../api/core/v1/node.ts'

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

/** How many milliseconds lie between evictions in the zone; Infinity stops them. */
export function evictionIntervalMs(zone: string, nodes: Iterable<Node>): number {
  const zones = new Map<string, Zone>()
  for (const node of nodes) {
    const found = zones.get(zoneOf(node)) ?? { nodes: 0, unready: 0 }
    found.nodes++
    if (!isNodeReady(node)) found.unready++
    zones.set(zoneOf(node), found)
  }
  const own = zones.get(zone)
  if (own === undefined) return Infinity
  // When nothing answers anywhere, it is we who are cut off.
  if ([...zones.values()].every((each) => stateOf(each) === 'full')) return Infinity
  if (stateOf(own) !== 'partial') return 1000 / evictionRate
  return own.nodes > largeZoneNodes ? 1000 / evictionRateDisrupted : Infinity
}
