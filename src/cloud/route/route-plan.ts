// Which routes of the cloud to create and delete, as a pure function of the nodes and the routes that exist.
import type { Node } from '../../api/core/v1/node/node.ts'
import { overlaps, parseCidr } from '../../api/networking/v1/cidr.ts'
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
  const ranges = clusterCidrs.map(parseCidr)
  const isOurs = ({ destinationCidr }: CloudRoute) =>
    ranges.some((range) => overlaps(range, parseCidr(destinationCidr)))
  return {
    creates: wanted.filter(({ route }) => !usable.has(idOf(route))),
    deletes: existing.filter((route) => isOurs(route) && (route.isBlackhole || !wantedIds.has(idOf(route)))),
  }
}

const idOf = ({ nodeName, destinationCidr }: CloudRoute): string => `${nodeName} ${destinationCidr}`

const routesOf = ({ metadata, spec }: Node): readonly CloudRoute[] =>
  (spec.podCIDRs ?? []).map((destinationCidr) => ({
    ...{ name: '', nodeName: metadata.name, destinationCidr, isBlackhole: false },
  }))
