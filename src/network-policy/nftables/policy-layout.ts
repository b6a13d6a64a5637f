// The fixed part of the table: its maps, sets and base chains. docs/network-policy.md has the diagram. Packets are checked
// where they are forwarded, after the destination of a Service was translated and before the source is, so that rules see
// the addresses of pods. What the node itself sends to its pods, or receives from them, is not forwarded.
import type { Cidr } from '../../base/net/cidr.ts'
import { commandText, type CommandText } from '../../base/net/command-text.ts'
import type { InterfaceName } from '../../base/net/interface-name.ts'
import { familyOf, type AddressFamily } from '../../base/net/address-family.ts'
import type { Protocol } from '../rules/compiled-policy.ts'

export const table = commandText`inet coxswain-policy`

export interface PolicyLayout {
  /** The addresses of the pods of this node. Those that are not known as a pod are closed. */
  readonly ownRanges: readonly Cidr[]
  /** The bridge of the pods. */
  readonly bridge?: InterfaceName
}

export const families = ['IPv4', 'IPv6'] as const
export const headerOf = (family: AddressFamily): 'ip' | 'ip6' => (family === 'IPv6' ? 'ip6' : 'ip')
export const suffixOf = (family: AddressFamily): '4' | '6' => (family === 'IPv6' ? '6' : '4')
export const addressTypeOf = (family: AddressFamily): 'ipv4_addr' | 'ipv6_addr' =>
  family === 'IPv6' ? 'ipv6_addr' : 'ipv4_addr'

/** The element that shows that a set was not flushed by others. No packet has it as source or destination. */
const canary = (family: AddressFamily): '0.0.0.0' | '::' => (family === 'IPv6' ? '::' : '0.0.0.0')

export const protocolNames = { SCTP: 'sctp', TCP: 'tcp', UDP: 'udp' } as const satisfies Record<Protocol, string>

const rule = (chain: 'egress' | 'ingress', text: CommandText): CommandText =>
  commandText`add rule ${table} ${chain} ${text}`

/** Creates the table without pods; an existing table is replaced. */
export const layoutCommands = (layout: PolicyLayout): readonly CommandText[] => [
  commandText`add table ${table}`,
  commandText`delete table ${table}`,
  commandText`add table ${table}`,
  ...families.flatMap(setCommands),
  // A verdict of one base chain does not skip the other: a packet must pass both.
  ...baseChain('egress', -10, 'saddr', layout),
  ...baseChain('ingress', -9, 'daddr', layout),
]

function setCommands(family: AddressFamily): readonly CommandText[] {
  const suffix = suffixOf(family)
  const type = addressTypeOf(family)
  return [
    commandText`add map ${table} egress${suffix} { type ${type} : verdict; }`,
    commandText`add map ${table} ingress${suffix} { type ${type} : verdict; }`,
    commandText`add set ${table} self${suffix} { type ${type} . ${type}; }`,
    commandText`add set ${table} pods${suffix} { type ${type}; }`,
    commandText`add element ${table} pods${suffix} { ${canary(family)} }`,
    ...(['egress', 'ingress'] as const).map(
      (map) => commandText`add element ${table} ${map}${suffix} { ${canary(family)} : continue }`,
    ),
  ]
}

function baseChain(
  name: 'egress' | 'ingress',
  priority: number,
  address: 'saddr' | 'daddr',
  { ownRanges, bridge }: PolicyLayout,
): readonly CommandText[] {
  return [
    commandText`add chain ${table} ${name} { type filter hook forward priority ${priority}; policy accept; }`,
    // Replies belong to a connection that was allowed. What its opener sends is checked again, so that a changed policy
    // applies to open connections, too.
    rule(name, commandText`ct direction reply ct state established accept`),
    rule(name, commandText`ct state related accept`),
    ...neighbourRules(name, bridge),
    ...families.flatMap((family) => {
      const header = headerOf(family)
      const suffix = suffixOf(family)
      return [
        ...ownRanges
          .filter((range) => familyOf(range) === family)
          .map((range) =>
            rule(name, commandText`${header} ${address} ${range} ${header} ${address} != @pods${suffix} drop`),
          ),
        rule(name, commandText`${header} saddr . ${header} daddr @self${suffix} accept`),
        rule(name, commandText`${header} ${address} vmap @${name}${suffix}`),
      ]
    }),
  ]
}

/** Pods on one bridge find one another by neighbour discovery, and have addresses there that no policy knows. */
const neighbourRules = (chain: 'egress' | 'ingress', bridge: InterfaceName | undefined): readonly CommandText[] => [
  rule(chain, commandText`icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } ip6 hoplimit 255 accept`),
  ...(bridge === undefined
    ? []
    : (['saddr', 'daddr'] as const).map((address) =>
        rule(chain, commandText`iifname "${bridge}" oifname "${bridge}" ip6 ${address} fe80::/10 drop`),
      )),
]

/** The last command of a trial, after those that create the table: it fails because the table exists. */
export const trialEnd: CommandText = commandText`create table ${table}`

/** Succeeds, and changes nothing, as long as the table exists. */
export const presenceCommands: readonly CommandText[] = [
  commandText`add chain ${table} egress`,
  commandText`add chain ${table} ingress`,
]

/**
 * Commands that fail, each with one error, as long as the table is complete: maps and sets that rules refer to cannot be
 * deleted, and elements that exist cannot be created. Nothing is changed unless all of them succeed.
 */
export const probeCommands: readonly CommandText[] = families.flatMap((family) => {
  const suffix = suffixOf(family)
  return [
    commandText`create element ${table} pods${suffix} { ${canary(family)} }`,
    ...(['egress', 'ingress'] as const).map(
      (map) => commandText`create element ${table} ${map}${suffix} { ${canary(family)} : continue }`,
    ),
    commandText`delete map ${table} egress${suffix}`,
    commandText`delete map ${table} ingress${suffix}`,
    commandText`delete set ${table} self${suffix}`,
  ]
})

export const removalCommands: readonly CommandText[] = [
  commandText`add table ${table}`,
  commandText`delete table ${table}`,
]
