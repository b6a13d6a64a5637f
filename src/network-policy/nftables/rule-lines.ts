// The rules of one policy and direction as lines of a chain. A packet that no line accepts returns to the chain of the pod.
import type { ObjectKey } from '../../api/meta/object.ts'
import { commandText, joinCommandText, parseIdentifier, type CommandText } from '../../base/net/command-text.ts'
import { familyOf } from '../../base/net/address-family.ts'
import {
  protocols,
  type Direction,
  type PeerMatch,
  type PodSelection,
  type PolicyRule,
  type Protocol,
} from '../rules/compiled-policy.ts'
import { isAllPorts, mergedPorts, type ProtocolPorts } from '../rules/port-ranges.ts'
import { families, headerOf, protocolNames, suffixOf } from './policy-layout.ts'

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
  readonly setOf: (selection: PodSelection, named?: NamedPort) => CommandText
}

export const allPods: PodSelection = { namespaces: { selector: [] }, pods: [] }

/** nft limits comments to 128 bytes. */
const commentCharactersMax = 96

/** More than any policy needs that is written by hand; each is a rule in the kernel. */
export const linesPerChainMax = 10_000

/** undefined if there are too many. */
export function ruleLines(source: RuleSource): readonly CommandText[] | undefined {
  const lines: CommandText[] = []
  for (const rule of source.rules) {
    if (lines.length + conditionsMax(rule) > linesPerChainMax) return undefined
    for (const condition of conditionsOf(rule, source))
      lines.push(joinCommandText([...condition, accept(rule, source)], ' '))
  }
  return lines
}

/** The comment names the rule that allows the packet. The kernel accepts names that objects have, and no others. */
function accept({ index }: PolicyRule, { policy, direction }: RuleSource): CommandText {
  const name = parseIdentifier(`policy/${policy.slice(0, commentCharactersMax)}`)
  return name === undefined ? commandText`accept` : commandText`accept comment "${name} ${direction}[${index}]"`
}

/** At least as many as `conditionsOf` returns. */
function conditionsMax({ peers, ports }: PolicyRule): number {
  const selections = peers?.filter(({ kind }) => kind === 'pods').length ?? 1
  const ofPeers = peers === undefined ? 1 : peers.length + selections * (families.length - 1)
  const ofPorts = ports === undefined ? 1 : new Set(ports.map(({ protocol }) => protocol)).size
  const named = ports?.filter(({ kind }) => kind === 'named').length ?? 0
  return ofPeers * ofPorts + named * selections * families.length
}

/** One of the conditions must hold: a list of expressions that must all match. */
function conditionsOf(rule: PolicyRule, source: RuleSource): readonly (readonly CommandText[])[] {
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

const addressField = (direction: Direction): 'daddr' | 'saddr' => (direction === 'ingress' ? 'saddr' : 'daddr')

function peerConditions(peer: PeerMatch, { direction, setOf }: RuleSource): readonly (readonly CommandText[])[] {
  const field = addressField(direction)
  if (peer.kind === 'block') {
    const address = commandText`${headerOf(familyOf(peer.cidr))} ${field}`
    // A rule has a limited number of expressions, so exceptions are a set.
    const except =
      peer.except.length === 0 ? [] : [commandText`${address} != { ${joinCommandText(peer.except, ', ')} }`]
    return [[commandText`${address} ${peer.cidr}`, ...except]]
  }
  const set = setOf(peer.selection)
  return families.map((family) => [commandText`${headerOf(family)} ${field} @${set}${suffixOf(family)}`])
}

const portCondition = ({ protocol, ranges }: ProtocolPorts): CommandText => {
  const name = protocolNames[protocol]
  if (isAllPorts(ranges)) return commandText`meta l4proto ${name}`
  const texts = ranges.map(({ first, last }) =>
    first === last ? commandText`${first}` : commandText`${first}-${last}`,
  )
  return commandText`${name} dport { ${joinCommandText(texts, ', ')} }`
}

/** Blocks are addresses outside the cluster, where ports have no names. */
function namedConditions(
  { peers, ports = [] }: PolicyRule,
  { setOf }: RuleSource,
): readonly (readonly CommandText[])[] {
  const selections = peers?.flatMap((peer) => (peer.kind === 'pods' ? [peer.selection] : [])) ?? [allPods]
  return ports.flatMap((port) =>
    port.kind === 'range'
      ? []
      : selections.flatMap((selection) => {
          const set = setOf(selection, port)
          return families.map((family) => [
            commandText`${headerOf(family)} daddr . meta l4proto . th dport @${set}${suffixOf(family)}`,
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
