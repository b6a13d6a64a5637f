// The fixed part of the table: its maps, sets and base chains. docs/network-policy.md has the diagram. Packets are checked
// where they are forwarded, after the destination of a Service was translated and before the source is, so that rules see
// the addresses of pods. What the node itself sends to its pods, or receives from them, is not forwarded.
import { familyOf, type AddressFamily } from '../../base/text/address-family.ts'

export const table = 'inet coxswain-policy'

export interface PolicyLayout {
  /** The addresses of the pods of this node. Those that are not known as a pod are closed. */
  readonly ownRanges: readonly string[]
  /** The bridge of the pods. */
  readonly bridge?: string
}

export const families = ['IPv4', 'IPv6'] as const
export const headerOf = (family: AddressFamily): 'ip' | 'ip6' => (family === 'IPv6' ? 'ip6' : 'ip')
export const suffixOf = (family: AddressFamily): '4' | '6' => (family === 'IPv6' ? '6' : '4')
export const addressTypeOf = (family: AddressFamily): string => (family === 'IPv6' ? 'ipv6_addr' : 'ipv4_addr')

/** The element that shows that a set was not flushed by others. No packet has it as source or destination. */
const canary = (family: AddressFamily): string => (family === 'IPv6' ? '::' : '0.0.0.0')

const rule = (chain: string, text: string): string => `add rule ${table} ${chain} ${text}`

/** Creates the table without pods; an existing table is replaced. */
export const layoutCommands = (layout: PolicyLayout): readonly string[] => [
  `add table ${table}`,
  `delete table ${table}`,
  `add table ${table}`,
  ...families.flatMap(setCommands),
  // A verdict of one base chain does not skip the other: a packet must pass both.
  ...baseChain('egress', -10, 'saddr', layout),
  ...baseChain('ingress', -9, 'daddr', layout),
]

function setCommands(family: AddressFamily): readonly string[] {
  const [suffix, type] = [suffixOf(family), addressTypeOf(family)]
  return [
    `add map ${table} egress${suffix} { type ${type} : verdict; }`,
    `add map ${table} ingress${suffix} { type ${type} : verdict; }`,
    `add set ${table} self${suffix} { type ${type} . ${type}; }`,
    `add set ${table} pods${suffix} { type ${type}; }`,
    `add element ${table} pods${suffix} { ${canary(family)} }`,
    ...['egress', 'ingress'].map((map) => `add element ${table} ${map}${suffix} { ${canary(family)} : continue }`),
  ]
}

function baseChain(
  name: 'egress' | 'ingress',
  priority: number,
  address: 'saddr' | 'daddr',
  { ownRanges, bridge }: PolicyLayout,
): readonly string[] {
  return [
    `add chain ${table} ${name} { type filter hook forward priority ${priority}; policy accept; }`,
    // Replies belong to a connection that was allowed. What its opener sends is checked again, so that a changed policy
    // applies to open connections, too.
    rule(name, 'ct direction reply ct state established accept'),
    rule(name, 'ct state related accept'),
    ...neighbourRules(name, bridge),
    ...families.flatMap((family) => {
      const [header, suffix] = [headerOf(family), suffixOf(family)]
      return [
        ...ownRanges
          .filter((range) => familyOf(range) === family)
          .map((range) => rule(name, `${header} ${address} ${range} ${header} ${address} != @pods${suffix} drop`)),
        rule(name, `${header} saddr . ${header} daddr @self${suffix} accept`),
        rule(name, `${header} ${address} vmap @${name}${suffix}`),
      ]
    }),
  ]
}

/** Pods on one bridge find one another by neighbour discovery, and have addresses there that no policy knows. */
const neighbourRules = (chain: string, bridge: string | undefined): readonly string[] => [
  rule(chain, 'icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } ip6 hoplimit 255 accept'),
  ...(bridge === undefined
    ? []
    : ['saddr', 'daddr'].map((address) =>
        rule(chain, `iifname "${bridge}" oifname "${bridge}" ip6 ${address} fe80::/10 drop`),
      )),
]

/** Succeeds, and changes nothing, as long as the table exists. */
export const presenceCommands: readonly string[] = [`add chain ${table} egress`, `add chain ${table} ingress`]

/**
 * Commands that fail, each with one error, as long as the table is complete: maps and sets that rules refer to cannot be
 * deleted, and elements that exist cannot be created. Nothing is changed unless all of them succeed.
 */
export const probeCommands: readonly string[] = families.flatMap((family) => {
  const suffix = suffixOf(family)
  return [
    `create element ${table} pods${suffix} { ${canary(family)} }`,
    ...['egress', 'ingress'].map((map) => `create element ${table} ${map}${suffix} { ${canary(family)} : continue }`),
    `delete map ${table} egress${suffix}`,
    `delete map ${table} ingress${suffix}`,
    `delete set ${table} self${suffix}`,
  ]
})

export const removalCommands: readonly string[] = [`add table ${table}`, `delete table ${table}`]
