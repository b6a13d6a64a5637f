// A NetworkPolicy in the form in which it is evaluated: selectors are parsed, and absent lists have one meaning.
import type { NetworkPolicyPeer, NetworkPolicyPort } from '../../api/networking/v1/network-policy-spec.ts'
import type { NetworkPolicy } from '../../api/networking/v1/network-policy.ts'
import { keyOf, namespaceOf, type ObjectKey } from '../../api/meta/object.ts'
import { everything, selectorOf, type Selector } from '../../api/selectors/selectors.ts'
import type { Cidr } from '../../base/net/cidr.ts'
import { disjointCidrs } from '../../base/net/disjoint-ranges.ts'
import { parsePort } from '../../base/net/port.ts'
import { parseCidrSloppy } from '../../base/net/sloppy-address.ts'
import { familyOf } from '../../base/net/address-family.ts'

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
  /** The exceptions do not overlap, and are of the family of the block. */
  | { readonly kind: 'block'; readonly cidr: Cidr; readonly except: readonly Cidr[] }

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
    peers: peers.length === 0 ? undefined : peers.flatMap((peer) => peerMatch(peer, namespace) ?? []),
    ports: ports.length === 0 ? undefined : ports.flatMap((port) => portMatch(port) ?? []),
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

/** undefined: a block that is no range. It allows nothing. */
function peerMatch(
  { podSelector, namespaceSelector, ipBlock }: NetworkPolicyPeer,
  namespace: string,
): PeerMatch | undefined {
  if (ipBlock !== undefined) return blockMatch(ipBlock)
  const selector = selectorOf(namespaceSelector)
  return {
    kind: 'pods',
    selection: {
      namespaces: selector === undefined ? { name: namespace } : { selector },
      pods: selectorOf(podSelector) ?? everything,
    },
  }
}

function blockMatch(block: NonNullable<NetworkPolicyPeer['ipBlock']>): PeerMatch | undefined {
  const cidr = parseCidrSloppy(block.cidr)
  const except: Cidr[] = []
  for (const text of block.except ?? []) {
    const excepted = parseCidrSloppy(text)
    if (excepted === undefined) return undefined
    except.push(excepted)
  }
  if (cidr === undefined) return undefined
  return { kind: 'block', cidr, except: disjointCidrs(except.filter((each) => familyOf(each) === familyOf(cidr))) }
}

/** undefined: a port that does not exist. It allows nothing. */
function portMatch({ protocol, port, endPort }: NetworkPolicyPort): PortMatch | undefined {
  if (!protocols.includes(protocol)) return undefined
  if (port === undefined) return { kind: 'range', protocol, first: 0, last: portLast }
  if (typeof port === 'string') return { kind: 'named', protocol, name: port }
  const first = parsePort(port)
  const last = parsePort(endPort ?? port)
  return first === undefined || last === undefined || last < first
    ? undefined
    : { kind: 'range', protocol, first, last }
}

/** The policy isolates the same pods, and allows nothing. */
export const withoutRules = ({ rules, ...policy }: CompiledPolicy): CompiledPolicy => ({
  ...policy,
  rules: { ingress: rules.ingress && [], egress: rules.egress && [] },
})
