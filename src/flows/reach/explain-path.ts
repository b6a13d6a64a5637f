// explainPath: the verdict on a path and its sentences, as a pure function.
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import type { Service } from '../../api/core/v1/service/service.ts'
import { keyOf } from '../../api/meta/object.ts'
import type { SideVerdict } from '../../network-policy/rules/decision.ts'
import { plural } from '../why/explainer/explainer.ts'
import { checkedHop, isBlocked, policiesOf, sideSentences, type CheckedHop } from './checked-hop.ts'
import type { ClusterMap } from './cluster-map.ts'
import { checkedDns, noDns } from './dns-path.ts'
import { appliedHint, endText, listText } from './policy-sentences.ts'
import type { TrafficPath } from './traffic-path.ts'

export interface Reach {
  /** `partly`: some connections fail, or those that need DNS. `unreachable`: for another reason than policies. */
  readonly verdict: 'allowed' | 'blocked' | 'partly' | 'unknown' | 'unreachable'
  readonly summary: string
  /** What happens along the path, in its order. */
  readonly sentences: readonly string[]
  /** What the verdict does not cover. */
  readonly unchecked: readonly string[]
  /** Where packets go, and what the policies of both sides decide there. */
  readonly hops: readonly ReachHop[]
}

export interface ReachHop {
  /** The pod of the address, as `<namespace>/<name>`; undefined for other addresses. */
  readonly pod: string | undefined
  readonly address: string
  readonly port: number
  readonly protocol: string
  readonly egress: ReachSide
  readonly ingress: ReachSide
}

export interface ReachSide {
  readonly isBlocked: boolean
  /** The policies that decide, as `<namespace>/<name>`; none if no policy restricts the traffic. */
  readonly policies: readonly string[]
}

/** `throughName` is the Service that the pod looks up in DNS. */
export function explainPath(source: Pod, path: TrafficPath, map: ClusterMap, throughName?: Service): Reach {
  const checked = path.hops.map((hop) => checkedHop(source, hop, map))
  const blocked = checked.filter(isBlocked)
  const dns = throughName === undefined ? noDns : checkedDns(source, throughName, map)
  const policies = new Set([...checked, ...dns.checked].flatMap(policiesOf))
  const { verdict, summary } = verdictOf(source, path, checked.length, blocked.length, dns.problem)
  return {
    verdict,
    summary,
    sentences: [
      ...dns.sentences,
      ...path.sentences,
      ...new Set(checked.flatMap((each) => sideSentences(source, each))),
    ],
    unchecked: [...dns.unchecked, ...path.unchecked, ...uncheckedBy(source, checked, [...policies], map)],
    hops: checked.map(reachHop),
  }
}

const reachHop = ({ hop, traffic, sides: [egress, ingress] }: CheckedHop): ReachHop => ({
  pod: traffic.to.pod?.key,
  address: hop.address,
  port: hop.port,
  protocol: hop.protocol,
  egress: sideOf(egress),
  ingress: sideOf(ingress),
})

const sideOf = (verdict: SideVerdict): ReachSide => ({
  isBlocked: verdict.kind === 'blocked',
  policies: verdict.kind === 'blocked' ? verdict.policies : verdict.kind === 'allowed' ? [verdict.policy] : [],
})

function verdictOf(
  source: Pod,
  { failures, unchecked }: TrafficPath,
  hops: number,
  blocked: number,
  dnsProblem: string | undefined,
): Pick<Reach, 'verdict' | 'summary'> {
  if (hops === 0)
    return failures.length > 0
      ? { verdict: 'unreachable', summary: failures.join(' ') }
      : { verdict: 'unknown', summary: `Unknown: ${unchecked.join('; ')}.` }
  if (blocked === hops)
    return { verdict: 'blocked', summary: 'Blocked by network policies: packets are dropped, so connections time out.' }
  const some = failures.length > 0 ? ` ${failures.join(' ')}` : ''
  if (blocked > 0)
    return {
      verdict: 'partly',
      summary: `Partly blocked by network policies: connections to ${blocked} of ${plural(hops, 'endpoint')} time out.${some}`,
    }
  if (dnsProblem !== undefined)
    return {
      verdict: 'partly',
      summary: `Allowed by address, but pod ${keyOf(source)} cannot resolve the name: ${dnsProblem}.${some}`,
    }
  return {
    verdict: failures.length > 0 ? 'partly' : 'allowed',
    summary: `Allowed: no network policy blocks the traffic.${some}`,
  }
}

/** Programs, machines and enforcement are not examined. */
function uncheckedBy(
  source: Pod,
  checked: readonly CheckedHop[],
  policies: readonly string[],
  map: ClusterMap,
): readonly string[] {
  const reached = checked.filter((each) => !isBlocked(each))
  const listeners = [
    ...new Set(
      reached.flatMap(({ hop, traffic }) =>
        traffic.to.pod === undefined ? [] : [`${endText(traffic.to)} (${hop.protocol} ${hop.port})`],
      ),
    ),
  ]
  const names = [source.spec.nodeName, ...checked.map(({ traffic }) => traffic.to.pod?.nodeName)]
  const nodes = [...new Set(names.flatMap((name) => (name === undefined || name === '' ? [] : [name])))]
  const [first] = policies
  return [
    ...(listeners.length === 0 ? [] : [`whether a program listens in ${listText(listeners)}`]),
    ...(checked.length > 0 && nodes.length > 1 ? [`whether packets pass between the nodes ${listText(nodes)}`] : []),
    ...(first === undefined
      ? []
      : [
          `whether ${nodes.length === 1 ? `node ${nodes[0]} enforces` : `the nodes ${listText(nodes)} enforce`} policies: ${enforcementText(nodes, map)}${appliedHint(first)}`,
        ]),
  ]
}

/** Nodes of which it is known that Coxswain does not connect their pods. */
function enforcementText(nodes: readonly string[], map: ClusterMap): string {
  const others = nodes.filter((name) => !map.connectsPods(name))
  return others.length === 0
    ? ''
    : `the pod network of ${listText(others)} is not that of Coxswain, so its CNI plugin has to; otherwise `
}
