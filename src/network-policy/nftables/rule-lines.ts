// The rules of one policy and direction as lines of a chain. A packet that no line accepts returns to the chain of the pod.
import type { ObjectKey } from '../../api/meta/object.ts'
import { familyOf } from '../../base/text/address-family.ts'
import {
  protocols,
  type Direction,
  type PeerMatch,
  type PodSelection,
  type PolicyRule,
  type Protocol,
} from '../rules/compiled-policy.ts'
import { isAllPorts, mergedPorts, type ProtocolPorts } from '../rules/port-ranges.ts'
import { families, headerOf, suffixOf } from './policy-layout.ts'

/** A named port of the peers, by which the destination of egress is found. */
export interface NamedPort {
  readonly protocol: Protocol
  readonly name: string
}

export interface RuleSource {
  readonly policy: ObjectKey
  readonly direction: Direction
  readonly rules: readonly PolicyRule[]
  /** The numbers of a named port of the selected pods. */
  readonly numbersOf: (protocol: Protocol, name: string) => readonly number[]
  /** The set of the addresses of these pods, or of their addresses and this port; without the suffix of its family. */
  readonly setOf: (selection: PodSelection, named?: NamedPort) => string
}

export const allPods: PodSelection = { namespaces: { selector: [] }, pods: [] }

/** nft limits comments to 128 bytes. */
const commentCharactersMax = 110

export function ruleLines(source: RuleSource): readonly string[] {
  const { policy, direction, rules } = source
  return rules.flatMap((rule) => {
    const comment = `${policy.slice(0, commentCharactersMax)} ${direction}[${rule.index}]`
    return conditionsOf(rule, source).map((condition) => [...condition, `accept comment "${comment}"`].join(' '))
  })
}

/** One of the conditions must hold: a list of expressions that must all match. */
function conditionsOf(rule: PolicyRule, source: RuleSource): readonly (readonly string[])[] {
  const peers = rule.peers?.flatMap((peer) => peerConditions(peer, source)) ?? [[]]
  if (rule.ports === undefined) return peers
  // For egress, a name is resolved for each peer.
  const resolves = source.direction === 'ingress'
  const numbered = resolves ? rule.ports : rule.ports.filter(({ kind }) => kind === 'range')
  const ports = mergedPorts(numbered, source.numbersOf).map(portCondition)
  return [
    ...peers.flatMap((peer) => ports.map((port) => [...peer, port])),
    ...(resolves ? [] : namedConditions(rule, source)),
  ]
}

const addressField = (direction: Direction): string => (direction === 'ingress' ? 'saddr' : 'daddr')

function peerConditions(peer: PeerMatch, { direction, setOf }: RuleSource): readonly (readonly string[])[] {
  const field = addressField(direction)
  if (peer.kind === 'block') {
    const address = `${headerOf(familyOf(peer.cidr))} ${field}`
    return [[`${address} ${peer.cidr}`, ...peer.except.map((cidr) => `${address} != ${cidr}`)]]
  }
  const set = setOf(peer.selection)
  return families.map((family) => [`${headerOf(family)} ${field} @${set}${suffixOf(family)}`])
}

const portCondition = ({ protocol, ranges }: ProtocolPorts): string => {
  const name = protocol.toLowerCase()
  if (isAllPorts(ranges)) return `meta l4proto ${name}`
  return `${name} dport { ${ranges.map(({ first, last }) => (first === last ? first : `${first}-${last}`)).join(', ')} }`
}

/** Blocks are addresses outside the cluster, where ports have no names. */
function namedConditions({ peers, ports = [] }: PolicyRule, { setOf }: RuleSource): readonly (readonly string[])[] {
  const selections = peers?.flatMap((peer) => (peer.kind === 'pods' ? [peer.selection] : [])) ?? [allPods]
  return ports.flatMap((port) =>
    port.kind === 'range'
      ? []
      : selections.flatMap((selection) => {
          const set = setOf(selection, port)
          return families.map((family) => [
            `${headerOf(family)} daddr . meta l4proto . th dport @${set}${suffixOf(family)}`,
          ])
        }),
  )
}

/** The names of ports on whose numbers the lines depend. */
export const namesIn = (rules: readonly PolicyRule[]): readonly NamedPort[] =>
  protocols.flatMap((protocol) =>
    [
      ...new Set(
        rules.flatMap(({ ports = [] }) =>
          ports.flatMap((port) => (port.kind === 'named' && port.protocol === protocol ? [port.name] : [])),
        ),
      ),
    ].map((name) => ({ protocol, name })),
  )
