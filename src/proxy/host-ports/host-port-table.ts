// The table of host ports. A port of the node is an element of a map, so a transaction has the size of its change.
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import { mustParseCidr, type Cidr } from '../../base/net/cidr.ts'
import { commandText, joinCommandText, type CommandText } from '../../base/net/command-text.ts'
import { familyOf, type AddressFamily } from '../../base/net/address-family.ts'
import type { TableContent } from '../../machine/nftables/table-content.ts'
import type { HostPort } from './host-ports.ts'

export const hostPortTable = commandText`inet coxswain-host-ports`

/** The bit of the packet mark that requests masquerading, as that of the CNI plugin portmap. */
const masqueradeMark = '0x2000'
const families = [
  { family: 'IPv4', protocol: 'ipv4', header: 'ip', suffix: '4', loopback: [mustParseCidr('127.0.0.0/8')] },
  { family: 'IPv6', protocol: 'ipv6', header: 'ip6', suffix: '6', loopback: [] },
] as const
const portKey = 'meta l4proto . th dport'
/** The element that shows that a set was not flushed by others. */
const canary = 'tcp . 0'

const suffixOf = (family: AddressFamily): '4' | '6' => (family === 'IPv6' ? '6' : '4')
const rule = (chain: ChainName, text: CommandText): CommandText =>
  commandText`add rule ${hostPortTable} ${chain} ${text}`

type ChainName = 'dispatch4' | 'dispatch6' | 'nat-output' | 'nat-postrouting' | 'nat-prerouting'

/** Creates the table; an existing one is replaced. `podRanges` are those of this node. */
export function hostPortLayout(podRanges: readonly Cidr[]): readonly CommandText[] {
  const base = (name: ChainName, hook: CommandText) =>
    commandText`add chain ${hostPortTable} ${name} { type nat hook ${hook}; }`
  const byFamily = (chain: ChainName) =>
    families.map(({ protocol, suffix }) => rule(chain, commandText`meta nfproto ${protocol} goto dispatch${suffix}`))
  return [
    commandText`add table ${hostPortTable}`,
    commandText`delete table ${hostPortTable}`,
    commandText`add table ${hostPortTable}`,
    ...families.flatMap((family) => familyLayout(family, podRanges)),
    // After the rules of Services, whose node ports therefore come first, as in upstream.
    base('nat-prerouting', commandText`prerouting priority -99`),
    ...byFamily('nat-prerouting'),
    base('nat-output', commandText`output priority -99`),
    ...byFamily('nat-output'),
    base('nat-postrouting', commandText`postrouting priority 100`),
    rule('nat-postrouting', commandText`meta mark and ${masqueradeMark} == 0 return`),
    rule(
      'nat-postrouting',
      commandText`meta mark set meta mark xor ${masqueradeMark} ct status dnat masquerade fully-random`,
    ),
  ]
}

/** Responses to pods of this node, and to 127.0.0.1, must come back through the node, so their source is the node's. */
function familyLayout(
  { family, protocol, header, suffix, loopback }: (typeof families)[number],
  podRanges: readonly Cidr[],
): readonly CommandText[] {
  const near = [...podRanges.filter((range) => familyOf(range) === family), ...loopback]
  const chain = `dispatch${suffix}` as const
  return [
    commandText`add set ${hostPortTable} ports${suffix} { typeof ${portKey}; }`,
    commandText`add map ${hostPortTable} any${suffix} { typeof ${portKey} : ${header} daddr . th dport; }`,
    commandText`add map ${hostPortTable} named${suffix} { typeof ${header} daddr . ${portKey} : ${header} daddr . th dport; }`,
    commandText`add element ${hostPortTable} ports${suffix} { ${canary} }`,
    commandText`add chain ${hostPortTable} ${chain}`,
    rule(chain, commandText`fib daddr type != local return`),
    // The kernel does not route packets from ::1 to other machines.
    ...(family === 'IPv6' ? [rule(chain, commandText`ip6 daddr ::1 return`)] : []),
    ...(near.length === 0
      ? []
      : [
          rule(
            chain,
            commandText`${header} saddr { ${joinCommandText(near, ', ')} } ${portKey} @ports${suffix} meta mark set meta mark or ${masqueradeMark}`,
          ),
        ]),
    rule(chain, commandText`dnat ${header} to ${header} daddr . ${portKey} map @named${suffix}`),
    rule(chain, commandText`meta nfproto ${protocol} dnat ${header} to ${portKey} map @any${suffix}`),
  ]
}

/** The elements of all host ports. If several pods name one, the first gets it. */
export function hostPortContent(ports: readonly HostPort[]): TableContent {
  const elements: TableContent['elements'] = new Map()
  const add = (set: CommandText, key: CommandText, value: CommandText | ''): void => {
    const ofSet = getOrInsert(elements, set, () => new Map<CommandText, CommandText | ''>())
    if (!ofSet.has(key)) ofSet.set(key, value)
  }
  for (const { family, protocol, hostIp, hostPort, target } of ports) {
    const suffix = suffixOf(family)
    const key = commandText`${protocol} . ${hostPort}`
    const value = commandText`${target.address} . ${target.port}`
    add(commandText`ports${suffix}`, key, '')
    if (hostIp === undefined) add(commandText`any${suffix}`, key, value)
    else add(commandText`named${suffix}`, commandText`${hostIp} . ${key}`, value)
  }
  return { elements, objects: new Map() }
}

/** Commands that all fail as long as the table is complete. */
export const probeCommands: readonly CommandText[] = families.flatMap(({ suffix }) => [
  commandText`create element ${hostPortTable} ports${suffix} { ${canary} }`,
  ...(['any', 'named'] as const).map((name) => commandText`delete map ${hostPortTable} ${name}${suffix}`),
  commandText`delete chain ${hostPortTable} dispatch${suffix}`,
])

/** Succeeds, and changes nothing, as long as the table exists. */
export const presenceCommands: readonly CommandText[] = [commandText`add chain ${hostPortTable} dispatch4`]

export const removalCommands: readonly CommandText[] = [
  commandText`add table ${hostPortTable}`,
  commandText`delete table ${hostPortTable}`,
]
