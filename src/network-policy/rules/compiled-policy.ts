// A NetworkPolicy in the form in which it is evaluated: selectors are parsed, and absent lists have one meaning.
import type { NetworkPolicyPeer, NetworkPolicyPort } from '../../api/networking/v1/network-policy-spec.ts'
import type { NetworkPolicy } from '../../api/networking/v1/network-policy.ts'
import { keyOf, namespaceOf, type ObjectKey } from '../../api/meta/object.ts'
import { everything, selectorOf, type Selector } from '../../api/selectors/selectors.ts'

export const directions = ['ingress', 'egress'] as const
export type Direction = (typeof directions)[number]

export const protocols = ['TCP', 'UDP', 'SCTP'] as const
export type Protocol = (typeof protocols)[number]

/** Pods of one namespace, or of the namespaces with these labels. */
export interface PodSelection {
  readonly namespaces: { readonly name: string } | { readonly selector: Selector }
  readonly pods: Selector
}

export type PeerMatch =
  | { readonly kind: 'pods'; readonly selection: PodSelection }
  | { readonly kind: 'block'; readonly cidr: string; readonly except: readonly string[] }

export type PortMatch =
  | { readonly kind: 'range'; readonly protocol: Protocol; readonly first: number; readonly last: number }
  | { readonly kind: 'named'; readonly protocol: Protocol; readonly name: string }

/** The traffic that a rule allows: from or to one of the peers, at one of the ports. */
export interface PolicyRule {
  /** Its position in the list of its direction. */
  readonly index: number
  /** Undefined: all addresses, inside and outside the cluster. */
  readonly peers: readonly PeerMatch[] | undefined
  /** Undefined: all ports of all protocols. */
  readonly ports: readonly PortMatch[] | undefined
}

export interface CompiledPolicy {
  readonly key: ObjectKey
  readonly namespace: string
  readonly pods: Selector
  /** The rules of each direction; undefined if the policy does not isolate pods in it. */
  readonly rules: Readonly<Record<Direction, readonly PolicyRule[] | undefined>>
}

export const portLast = 65_535

export function compiledPolicy(policy: NetworkPolicy): CompiledPolicy {
  const { podSelector, policyTypes = [], ingress = [], egress = [] } = policy.spec
  const namespace = namespaceOf(policy)
  const rulesOf = (
    peers: readonly NetworkPolicyPeer[] = [],
    ports: readonly NetworkPolicyPort[] = [],
    index: number,
  ) => ({
    index,
    peers: peers.length === 0 ? undefined : peers.map((peer) => peerMatch(peer, namespace)),
    ports: ports.length === 0 ? undefined : ports.map(portMatch),
  })
  return {
    key: keyOf(policy),
    namespace,
    pods: selectorOf(podSelector) ?? everything,
    rules: {
      ingress: policyTypes.includes('Ingress')
        ? ingress.map(({ from, ports }, index) => rulesOf(from, ports, index))
        : undefined,
      egress: policyTypes.includes('Egress')
        ? egress.map(({ to, ports }, index) => rulesOf(to, ports, index))
        : undefined,
    },
  }
}

function peerMatch({ podSelector, namespaceSelector, ipBlock }: NetworkPolicyPeer, namespace: string): PeerMatch {
  if (ipBlock !== undefined) return { kind: 'block', cidr: ipBlock.cidr, except: ipBlock.except ?? [] }
  const selector = selectorOf(namespaceSelector)
  return {
    kind: 'pods',
    selection: {
      namespaces: selector === undefined ? { name: namespace } : { selector },
      pods: selectorOf(podSelector) ?? everything,
    },
  }
}

function portMatch({ protocol, port, endPort }: NetworkPolicyPort): PortMatch {
  if (port === undefined) return { kind: 'range', protocol, first: 0, last: portLast }
  if (typeof port === 'string') return { kind: 'named', protocol, name: port }
  return { kind: 'range', protocol, first: port, last: endPort ?? port }
}
