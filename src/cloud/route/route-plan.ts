// Which routes of the cloud to create and delete, as a pure function of the nodes and the routes that exist.
import { DisjointRanges } from '../../base/net/disjoint-ranges.ts'
import { parseCidrSloppy, parseCidrsSloppy } from '../../base/net/sloppy-address.ts'
import type { Node } from '../../api/core/v1/node/node.ts'
import type { CloudRoute } from '../provider/cloud-provider.ts'

export interface RoutePlan {
  readonly creates: readonly { readonly route: CloudRoute; readonly node: Node }[]
  readonly deletes: readonly CloudRoute[]
}

/** Only routes within the pod ranges of the cluster are deleted: others belong to someone else. */
export function routePlan(
  nodes: readonly Node[],
  existing: readonly CloudRoute[],
  clusterCidrs: readonly string[],
): RoutePlan {
  const usable = new Set(existing.filter(({ isBlackhole }) => !isBlackhole).map(idOf))
  const wanted = nodes.flatMap((node) => routesOf(node).map((route) => ({ route, node })))
  const wantedIds = new Set(wanted.map(({ route }) => idOf(route)))
  const ranges = DisjointRanges.of(parseCidrsSloppy(clusterCidrs).map((range) => ({ range, value: range })))
  const isOurs = ({ destinationCidr }: CloudRoute) => {
    const destination = parseCidrSloppy(destinationCidr)
    return destination !== undefined && ranges.overlapping(destination) !== undefined
  }
  return {
    creates: wanted.filter(({ route }) => !usable.has(idOf(route))),
    deletes: existing.filter((route) => isOurs(route) && (route.isBlackhole || !wantedIds.has(idOf(route)))),
  }
}

const idOf = ({ nodeName, destinationCidr }: CloudRoute): string => `${nodeName} ${destinationCidr}`

const routesOf = ({ metadata, spec }: Node): readonly CloudRoute[] =>
  (spec.podCIDRs ?? []).map((destinationCidr) => ({
    name: '',
    nodeName: metadata.name,
    destinationCidr,
    isBlackhole: false,
  }))
