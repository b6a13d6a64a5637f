// CheckedHop: what the policies of both sides decide about one hop of a path.
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { keyOf } from '../../api/meta/object.ts'
import { familyOf } from '../../base/net/address-family.ts'
import { decide, type SideVerdict, type Traffic, type TrafficEnd } from '../../network-policy/rules/decision.ts'
import { podFacts } from '../../network-policy/rules/pod-facts.ts'
import { podAddress, type ClusterMap } from './cluster-map.ts'
import { sideSentence } from './policy-sentences.ts'
import type { Hop } from './traffic-path.ts'

export interface CheckedHop {
  readonly hop: Hop
  readonly traffic: Traffic
  /** As the node of the destination sees it. */
  readonly arriving: Traffic
  readonly sides: readonly [egress: SideVerdict, ingress: SideVerdict]
}

export const isBlocked = ({ sides }: CheckedHop): boolean => sides.some(({ kind }) => kind === 'blocked')

/** The policies that decide. */
export const policiesOf = ({ sides }: CheckedHop): readonly string[] =>
  sides.flatMap((side) => (side.kind === 'blocked' ? side.policies : side.kind === 'allowed' ? [side.policy] : []))

export function checkedHop(source: Pod, hop: Hop, map: ClusterMap): CheckedHop {
  const { port, protocol } = hop
  const to = map.endAt(hop.address)
  const traffic = { from: sourceEnd(source, hop.address), to, protocol, port }
  const { egress, ingress } = decide(traffic, map)
  const isElsewhere = to.pod !== undefined && to.pod.nodeName !== source.spec.nodeName
  if (!hop.isMasqueraded || !isElsewhere) return { hop, traffic, arriving: traffic, sides: [egress, ingress] }
  const arriving = { ...traffic, from: nodeEnd(source, hop.address, map) }
  return { hop, traffic, arriving, sides: [egress, decide(arriving, map).ingress] }
}

function sourceEnd(source: Pod, toward: string): TrafficEnd {
  const address = podAddress(source, familyOf(toward)) ?? ''
  const facts = podFacts(source)
  return facts === undefined ? { address, pod: undefined, node: source.spec.nodeName ?? '' } : { address, pod: facts }
}

function nodeEnd(source: Pod, toward: string, map: ClusterMap): TrafficEnd {
  const nodeName = source.spec.nodeName ?? ''
  const addresses = (map.node(nodeName)?.status.addresses ?? []).filter(({ type }) => type === 'InternalIP')
  const address = addresses.map((each) => each.address).find((each) => familyOf(each) === familyOf(toward)) ?? ''
  return { address, pod: undefined, node: nodeName }
}

export function sideSentences(
  source: Pod,
  { traffic, arriving, sides: [egress, ingress] }: CheckedHop,
): readonly string[] {
  const ofHost = `Pod ${keyOf(source)} uses the network of its node ${source.spec.nodeName ?? ''}: policies do not select it, and for others it is that node.`
  return [
    traffic.from.pod === undefined ? ofHost : sideSentence('egress', egress, traffic),
    sideSentence('ingress', ingress, arriving),
  ]
}
