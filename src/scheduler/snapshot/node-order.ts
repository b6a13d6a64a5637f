// nodeOrder: all nodes, alternating between zones, so that the first few nodes are in different zones.
import type { Node } from '../../api/core/v1/node/node.ts'

export function nodeOrder(nodes: readonly (Node | undefined)[], count: number): Int32Array {
  const zones = new Map<string, number[]>()
  for (const [slot, node] of nodes.entries()) {
    if (node === undefined) continue
    const zone = zoneOf(node)
    const members = zones.get(zone)
    if (members === undefined) zones.set(zone, [slot])
    else members.push(slot)
  }
  const order = new Int32Array(count)
  const lists = [...zones.values()]
  for (let filled = 0, round = 0; filled < count; round++)
    for (const members of lists) {
      const slot = members[round]
      if (slot !== undefined) order[filled++] = slot
    }
  return order
}

export const zoneOf = ({ metadata: { labels } }: Node): string =>
  `${labels?.['topology.kubernetes.io/region'] ?? ''}\0${labels?.['topology.kubernetes.io/zone'] ?? ''}`
