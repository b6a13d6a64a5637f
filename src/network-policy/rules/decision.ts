// What policies decide about one connection, with the rule that decides: the same rules as in the kernel, for explanations
// and for the simulated network.
import type { ObjectKey } from '../../api/meta/object.ts'
import type { Labels } from '../../api/selectors/selectors.ts'
import { cidrHasAddress, type Cidr } from '../../base/net/cidr.ts'
import { parseIpSloppy } from '../../base/net/sloppy-address.ts'
import type { CompiledPolicy, Direction, PeerMatch, PolicyRule, PortMatch, Protocol } from './compiled-policy.ts'
import { isSelected, namedPortId, type PodFacts } from './pod-facts.ts'

export interface TrafficEnd {
  readonly address: string
  /** Undefined if no pod with a network of its own has the address. */
  readonly pod: PodFacts | undefined
  /** The node that has the address, if one has. */
  readonly node?: string
}

export interface Traffic {
  readonly from: TrafficEnd
  /** After a Service has chosen its endpoint. */
  readonly to: TrafficEnd
  readonly protocol: Protocol
  readonly port: number
}

export type SideVerdict =
  /** No policy isolates the pod in this direction, or there is no pod. */
  | { readonly kind: 'not isolated' }
  /** A pod cannot block itself. */
  | { readonly kind: 'itself' }
  /** A pod and its own node always reach one another. */
  | { readonly kind: 'own node' }
  | { readonly kind: 'allowed'; readonly policy: ObjectKey; readonly rule: number }
  /** None of these policies, which isolate the pod, has a rule that matches. */
  | { readonly kind: 'blocked'; readonly policies: readonly ObjectKey[]; readonly missed: readonly MissedRule[] }

/** A rule that does not allow the traffic, and what it does not match. */
export interface MissedRule {
  readonly policy: ObjectKey
  readonly rule: number
  readonly differs: 'peer' | 'port' | 'peer and port'
}

export interface PolicyView {
  policiesIn(namespace: string): Iterable<CompiledPolicy>
  labelsOf(namespace: string): Labels | undefined
}

export interface Decision {
  readonly egress: SideVerdict
  readonly ingress: SideVerdict
  readonly isAllowed: boolean
}

export function decide(traffic: Traffic, view: PolicyView): Decision {
  const egress = side('egress', traffic, view)
  const ingress = side('ingress', traffic, view)
  return { egress, ingress, isAllowed: egress.kind !== 'blocked' && ingress.kind !== 'blocked' }
}

function side(direction: Direction, traffic: Traffic, view: PolicyView): SideVerdict {
  const { from, to } = traffic
  const [subject, peer] = direction === 'ingress' ? [to.pod, from] : [from.pod, to]
  if (subject === undefined) return { kind: 'not isolated' }
  const isolating = [...view.policiesIn(subject.namespace)]
    .filter((policy) => policy.rules[direction] !== undefined && isSubject(policy, subject))
    .toSorted((a, b) => (a.key < b.key ? -1 : 1))
  if (isolating.length === 0) return { kind: 'not isolated' }
  if (from.address === to.address) return { kind: 'itself' }
  if (peer.node !== undefined && peer.node === subject.nodeName) return { kind: 'own node' }
  const missed: MissedRule[] = []
  for (const { key, rules } of isolating)
    for (const rule of rules[direction] ?? []) {
      const differs = differenceOf(rule, direction, traffic, view)
      if (differs === undefined) return { kind: 'allowed', policy: key, rule: rule.index }
      missed.push({ policy: key, rule: rule.index, differs })
    }
  return { kind: 'blocked', policies: isolating.map(({ key }) => key), missed }
}

const isSubject = ({ namespace, pods }: CompiledPolicy, pod: PodFacts): boolean =>
  isSelected({ namespaces: { name: namespace }, pods }, pod, undefined)

/** Undefined if the rule matches the traffic. */
function differenceOf(
  { peers, ports }: PolicyRule,
  direction: Direction,
  traffic: Traffic,
  view: PolicyView,
): MissedRule['differs'] | undefined {
  const peer = direction === 'ingress' ? traffic.from : traffic.to
  const matching = peers?.filter((each) => isPeer(each, peer, view))
  const isOtherPeer = matching?.length === 0
  // A block has no names of ports, for which the peer of egress must be selected as a pod.
  const hasNames =
    direction === 'ingress' || matching === undefined || isOtherPeer || matching.some(({ kind }) => kind === 'pods')
  const isOtherPort = ports !== undefined && !ports.some((port) => isPort(port, traffic, hasNames))
  if (isOtherPeer) return isOtherPort ? 'peer and port' : 'peer'
  return isOtherPort ? 'port' : undefined
}

function isPeer(match: PeerMatch, { address, pod }: TrafficEnd, view: PolicyView): boolean {
  if (match.kind === 'pods') return pod !== undefined && isSelected(match.selection, pod, view.labelsOf(pod.namespace))
  return isInside(address, match.cidr) && !match.except.some((cidr) => isInside(address, cidr))
}

function isInside(address: string, cidr: Cidr): boolean {
  const parsed = parseIpSloppy(address)
  return parsed !== undefined && cidrHasAddress(cidr, parsed)
}

function isPort(match: PortMatch, { to, protocol, port }: Traffic, hasNames: boolean): boolean {
  if (match.protocol !== protocol) return false
  if (match.kind === 'range') return port >= match.first && port <= match.last
  return hasNames && (to.pod?.ports.get(namedPortId(protocol, match.name)) ?? []).includes(port)
}
