// The fixed part of the table: its sets, maps and chains. Only elements, and the few chains that they refer to, depend on
// Services. docs/services.md has the diagram.
import type { Cidr } from '../../base/net/cidr.ts'
import { commandText, joinCommandText, type CommandText } from '../../base/net/command-text.ts'
import { disjointCidrs } from '../../base/net/disjoint-ranges.ts'
import type { InterfaceName } from '../../base/net/interface-name.ts'
import { familyOf, type AddressFamily } from '../../base/net/address-family.ts'

export const table = commandText`inet coxswain-proxy`

export interface LayoutOptions {
  /** The addresses of pods, by which their traffic is recognised. */
  readonly podCidrs: readonly Cidr[]
  /** The addresses of Services; unused ones are dropped. */
  readonly serviceCidrs: readonly Cidr[]
  /** Whether all traffic to Services gets the node's source address. */
  readonly masqueradesAll: boolean
  /** The interface of pods through which node ports at 127.0.0.1 are routed. */
  readonly loopbackInterface?: InterfaceName
}

/** The bit of the packet mark that requests masquerading, as upstream's. */
const masqueradeMark = '0x4000'
const markForMasquerade = commandText`meta mark set meta mark or ${masqueradeMark}`

const families = ['IPv4', 'IPv6'] as const

export const suffixOf = (family: AddressFamily): '4' | '6' => (family === 'IPv6' ? '6' : '4')
const headerOf = (family: AddressFamily): 'ip' | 'ip6' => (family === 'IPv6' ? 'ip6' : 'ip')

/** The element that shows that a set was not flushed by others. */
export const canary = (header: 'ip' | 'ip6'): '0.0.0.0' | '::' => (header === 'ip' ? '0.0.0.0' : '::')

const frontendKey = (header: 'ip' | 'ip6'): CommandText => commandText`${header} daddr . meta l4proto . th dport`

/** Creates a table for Services with up to this number of endpoints; an existing table is replaced. */
export function layoutCommands(options: LayoutOptions, endpointsMax: number): readonly CommandText[] {
  return [
    commandText`add table ${table}`,
    commandText`delete table ${table}`,
    commandText`add table ${table}`,
    ...families.flatMap(setCommands),
    commandText`add chain ${table} refuse`,
    rule(commandText`refuse`, commandText`meta l4proto tcp reject with tcp reset`),
    rule(commandText`refuse`, commandText`reject with icmpx port-unreachable`),
    ...families.flatMap((family) => familyChains(family, options)),
    ...families.flatMap((family) => pickChains(family, endpointsMax)),
    ...baseChains(options),
  ]
}

const rule = (chain: CommandText, text: CommandText): CommandText => commandText`add rule ${table} ${chain} ${text}`

function setCommands(family: AddressFamily): readonly CommandText[] {
  const header = headerOf(family)
  const suffix = suffixOf(family)
  const key = frontendKey(header)
  const endpoints = commandText`{ typeof ${key} . numgen random mod 2 : ${header} daddr . th dport; }`
  return [
    commandText`add map ${table} services${suffix} { typeof ${key} : verdict; }`,
    commandText`add map ${table} endpoints${suffix} ${endpoints}`,
    commandText`add map ${table} own-services${suffix} { typeof ${key} : verdict; }`,
    commandText`add map ${table} own-endpoints${suffix} ${endpoints}`,
    ...(['refused', 'masqueraded', 'local-policy', 'firewalled'] as const).map(
      (name) => commandText`add set ${table} ${name}${suffix} { typeof ${key}; }`,
    ),
    commandText`add set ${table} accepted${suffix} { typeof ${key} . ${header} saddr; flags interval; }`,
    commandText`add set ${table} cluster-ips${suffix} { typeof ${header} daddr; }`,
    commandText`add set ${table} hairpin${suffix} { typeof ${header} saddr . ${header} daddr; }`,
    commandText`add element ${table} cluster-ips${suffix} { ${canary(header)} }`,
    ...(['services', 'own-services'] as const).map(
      (name) => commandText`add element ${table} ${name}${suffix} { ${canary(header)} . tcp . 0 : continue }`,
    ),
  ]
}

function familyChains(family: AddressFamily, options: LayoutOptions): readonly CommandText[] {
  const header = headerOf(family)
  const suffix = suffixOf(family)
  const key = frontendKey(header)
  const rangesIn = (cidrs: readonly Cidr[]) =>
    joinCommandText(
      disjointCidrs(cidrs).filter((cidr) => familyOf(cidr) === family),
      ', ',
    )
  const pods = rangesIn(options.podCidrs)
  const unused = rangesIn(options.serviceCidrs)
  const fromOutside = options.masqueradesAll ? commandText`` : commandText`${header} saddr != { ${pods} } `
  const dispatch = [
    commandText`${key} @firewalled${suffix} ${key} . ${header} saddr != @accepted${suffix} drop`,
    ...(options.masqueradesAll || pods !== ''
      ? [commandText`${header} daddr @cluster-ips${suffix} ${fromOutside}${markForMasquerade}`]
      : []),
    commandText`${key} @masqueraded${suffix} ${markForMasquerade}`,
    commandText`fib saddr type local ${key} @local-policy${suffix} ${markForMasquerade}`,
    ...(pods === '' ? [] : [commandText`${header} saddr { ${pods} } ${key} vmap @own-services${suffix}`]),
    commandText`fib saddr type local ${key} vmap @own-services${suffix}`,
    commandText`${key} vmap @services${suffix}`,
  ]
  const check = [
    commandText`${key} @refused${suffix} goto refuse`,
    commandText`${header} daddr @cluster-ips${suffix} goto refuse`,
    ...(unused === '' ? [] : [commandText`${header} daddr { ${unused} } drop`]),
  ]
  return [
    commandText`add chain ${table} dispatch${suffix}`,
    ...dispatch.map((text) => rule(commandText`dispatch${suffix}`, text)),
    commandText`add chain ${table} check${suffix}`,
    ...check.map((text) => rule(commandText`check${suffix}`, text)),
  ]
}

/** Destinations are chosen first. Connections that have none are checked afterwards, so that each is looked up once. */
function baseChains({ loopbackInterface }: LayoutOptions): readonly CommandText[] {
  const base = (name: CommandText, hook: CommandText) => commandText`add chain ${table} ${name} { type ${hook}; }`
  const byFamily = (chain: CommandText, condition: CommandText, target: 'check' | 'dispatch') => [
    rule(chain, commandText`${condition}meta nfproto ipv4 goto ${target}4`),
    rule(chain, commandText`${condition}meta nfproto ipv6 goto ${target}6`),
  ]
  return [
    base(commandText`nat-prerouting`, commandText`nat hook prerouting priority -100`),
    ...byFamily(commandText`nat-prerouting`, commandText``, 'dispatch'),
    base(commandText`nat-output`, commandText`nat hook output priority -100`),
    ...byFamily(commandText`nat-output`, commandText``, 'dispatch'),
    base(commandText`check-prerouting`, commandText`filter hook prerouting priority -90`),
    ...byFamily(commandText`check-prerouting`, commandText`ct state new `, 'check'),
    base(commandText`check-output`, commandText`filter hook output priority -90`),
    ...byFamily(commandText`check-output`, commandText`ct state new `, 'check'),
    base(commandText`nat-postrouting`, commandText`nat hook postrouting priority 100`),
    rule(
      commandText`nat-postrouting`,
      commandText`ct status dnat ip saddr . ip daddr @hairpin4 masquerade fully-random`,
    ),
    rule(
      commandText`nat-postrouting`,
      commandText`ct status dnat ip6 saddr . ip6 daddr @hairpin6 masquerade fully-random`,
    ),
    rule(commandText`nat-postrouting`, commandText`meta mark and ${masqueradeMark} == 0 return`),
    rule(
      commandText`nat-postrouting`,
      commandText`meta mark set meta mark xor ${masqueradeMark} masquerade fully-random`,
    ),
    ...(loopbackInterface === undefined
      ? []
      : [
          base(commandText`loopback`, commandText`filter hook prerouting priority -300`),
          rule(commandText`loopback`, commandText`iifname "${loopbackInterface}" ip daddr 127.0.0.0/8 drop`),
        ]),
  ]
}

/** The chain of all frontends with this number of endpoints. */
export const pickChainName = (family: AddressFamily, endpoints: number, isOwn: boolean): CommandText =>
  commandText`${isOwn ? 'own-' : ''}pick-${endpoints}-of${suffixOf(family)}`

/** nft 1.0 accepts their rules only in the transaction that creates the maps, so they are created in advance. */
function pickChains(family: AddressFamily, endpointsMax: number): readonly CommandText[] {
  const header = headerOf(family)
  const suffix = suffixOf(family)
  return [false, true].flatMap((isOwn) =>
    Array.from({ length: endpointsMax }, (_, index) => {
      const name = pickChainName(family, index + 1, isOwn)
      const map = commandText`${isOwn ? 'own-' : ''}endpoints${suffix}`
      const lookup = commandText`${frontendKey(header)} . numgen random mod ${index + 1} map @${map}`
      return [commandText`add chain ${table} ${name}`, rule(name, commandText`dnat ${header} to ${lookup}`)]
    }).flat(),
  )
}

/**
 * Commands that fail, each with one error, as long as the table is complete: sets and chains that rules refer to cannot be
 * deleted, and elements that exist cannot be created. Nothing is changed unless all of them succeed.
 */
export const probeCommands: readonly CommandText[] = [
  // Before the chains that refer to it, whose rules are gone for the rest of the transaction.
  commandText`delete chain ${table} refuse`,
  ...families.flatMap((family) => {
    const address = canary(headerOf(family))
    const suffix = suffixOf(family)
    return [
      commandText`create element ${table} cluster-ips${suffix} { ${address} }`,
      ...(['services', 'own-services'] as const).map(
        (name) => commandText`create element ${table} ${name}${suffix} { ${address} . tcp . 0 : continue }`,
      ),
    ]
  }),
  ...families.flatMap((family) => [
    ...(['services', 'own-services', 'endpoints', 'own-endpoints'] as const).map(
      (name) => commandText`delete map ${table} ${name}${suffixOf(family)}`,
    ),
    ...(['refused', 'masqueraded', 'local-policy', 'firewalled', 'accepted', 'hairpin'] as const).map(
      (name) => commandText`delete set ${table} ${name}${suffixOf(family)}`,
    ),
    ...(['dispatch', 'check'] as const).map((name) => commandText`delete chain ${table} ${name}${suffixOf(family)}`),
  ]),
]

/** The last command of a trial, after those that create the table: it fails because the table exists. */
export const trialEnd: CommandText = commandText`create table ${table}`

/** Succeeds, and changes nothing, as long as the table exists. */
export const presenceCommands: readonly CommandText[] = [commandText`add chain ${table} refuse`]

export const removalCommands: readonly CommandText[] = [
  commandText`add table ${table}`,
  commandText`delete table ${table}`,
]
