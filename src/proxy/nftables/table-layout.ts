// The fixed part of the table: its sets, maps and chains. Only elements, and the few chains that they refer to, depend on
// Services. docs/services.md has the diagram.
import { familyOf, type AddressFamily } from '../../base/text/address-family.ts'

export const table = 'inet coxswain-proxy'

export interface LayoutOptions {
  /** The addresses of pods, by which their traffic is recognised. */
  readonly podCidrs: readonly string[]
  /** The addresses of Services; unused ones are dropped. */
  readonly serviceCidrs: readonly string[]
  /** Whether all traffic to Services gets the node's source address. */
  readonly masqueradesAll: boolean
  /** The interface of pods through which node ports at 127.0.0.1 are routed. */
  readonly loopbackInterface?: string
}

/** The bit of the packet mark that requests masquerading, as upstream's. */
const masqueradeMark = '0x4000'
const markForMasquerade = `meta mark set meta mark or ${masqueradeMark}`

const families = ['IPv4', 'IPv6'] as const

export const suffixOf = (family: AddressFamily): '4' | '6' => (family === 'IPv6' ? '6' : '4')
const headerOf = (family: AddressFamily): 'ip' | 'ip6' => (family === 'IPv6' ? 'ip6' : 'ip')

/** The element that shows that a set was not flushed by others. */
export const canary = (header: 'ip' | 'ip6'): string => (header === 'ip' ? '0.0.0.0' : '::')

const frontendKey = (header: string): string => `${header} daddr . meta l4proto . th dport`

/** Creates a table for Services with up to this number of endpoints; an existing table is replaced. */
export function layoutCommands(options: LayoutOptions, endpointsMax: number): readonly string[] {
  return [
    `add table ${table}`,
    `delete table ${table}`,
    `add table ${table}`,
    ...families.flatMap(setCommands),
    `add chain ${table} refuse`,
    rule('refuse', 'meta l4proto tcp reject with tcp reset'),
    rule('refuse', 'reject with icmpx port-unreachable'),
    ...families.flatMap((family) => familyChains(family, options)),
    ...families.flatMap((family) => pickChains(family, endpointsMax)),
    ...baseChains(options),
  ]
}

const rule = (chain: string, text: string): string => `add rule ${table} ${chain} ${text}`

function setCommands(family: AddressFamily): readonly string[] {
  const [header, suffix] = [headerOf(family), suffixOf(family)]
  const key = frontendKey(header)
  const endpoints = `{ typeof ${key} . numgen random mod 2 : ${header} daddr . th dport; }`
  return [
    `add map ${table} services${suffix} { typeof ${key} : verdict; }`,
    `add map ${table} endpoints${suffix} ${endpoints}`,
    `add map ${table} own-services${suffix} { typeof ${key} : verdict; }`,
    `add map ${table} own-endpoints${suffix} ${endpoints}`,
    ...['refused', 'masqueraded', 'local-policy', 'firewalled'].map(
      (name) => `add set ${table} ${name}${suffix} { typeof ${key}; }`,
    ),
    `add set ${table} accepted${suffix} { typeof ${key} . ${header} saddr; flags interval; }`,
    `add set ${table} cluster-ips${suffix} { typeof ${header} daddr; }`,
    `add set ${table} hairpin${suffix} { typeof ${header} saddr . ${header} daddr; }`,
    `add element ${table} cluster-ips${suffix} { ${canary(header)} }`,
    ...['services', 'own-services'].map(
      (name) => `add element ${table} ${name}${suffix} { ${canary(header)} . tcp . 0 : continue }`,
    ),
  ]
}

function familyChains(family: AddressFamily, options: LayoutOptions): readonly string[] {
  const [header, suffix] = [headerOf(family), suffixOf(family)]
  const key = frontendKey(header)
  const rangesIn = (cidrs: readonly string[]) => cidrs.filter((cidr) => familyOf(cidr) === family).join(', ')
  const [pods, unused] = [rangesIn(options.podCidrs), rangesIn(options.serviceCidrs)]
  const fromOutside = options.masqueradesAll ? '' : `${header} saddr != { ${pods} } `
  const dispatch = [
    `${key} @firewalled${suffix} ${key} . ${header} saddr != @accepted${suffix} drop`,
    ...(options.masqueradesAll || pods !== ''
      ? [`${header} daddr @cluster-ips${suffix} ${fromOutside}${markForMasquerade}`]
      : []),
    `${key} @masqueraded${suffix} ${markForMasquerade}`,
    `fib saddr type local ${key} @local-policy${suffix} ${markForMasquerade}`,
    ...(pods === '' ? [] : [`${header} saddr { ${pods} } ${key} vmap @own-services${suffix}`]),
    `fib saddr type local ${key} vmap @own-services${suffix}`,
    `${key} vmap @services${suffix}`,
  ]
  const check = [
    `${key} @refused${suffix} goto refuse`,
    `${header} daddr @cluster-ips${suffix} goto refuse`,
    ...(unused === '' ? [] : [`${header} daddr { ${unused} } drop`]),
  ]
  return [
    `add chain ${table} dispatch${suffix}`,
    ...dispatch.map((text) => rule(`dispatch${suffix}`, text)),
    `add chain ${table} check${suffix}`,
    ...check.map((text) => rule(`check${suffix}`, text)),
  ]
}

/** Destinations are chosen first. Connections that have none are checked afterwards, so that each is looked up once. */
function baseChains({ loopbackInterface }: LayoutOptions): readonly string[] {
  const base = (name: string, hook: string) => `add chain ${table} ${name} { type ${hook}; }`
  const byFamily = (chain: string, condition: string, target: string) => [
    rule(chain, `${condition}meta nfproto ipv4 goto ${target}4`),
    rule(chain, `${condition}meta nfproto ipv6 goto ${target}6`),
  ]
  return [
    base('nat-prerouting', 'nat hook prerouting priority -100'),
    ...byFamily('nat-prerouting', '', 'dispatch'),
    base('nat-output', 'nat hook output priority -100'),
    ...byFamily('nat-output', '', 'dispatch'),
    base('check-prerouting', 'filter hook prerouting priority -90'),
    ...byFamily('check-prerouting', 'ct state new ', 'check'),
    base('check-output', 'filter hook output priority -90'),
    ...byFamily('check-output', 'ct state new ', 'check'),
    base('nat-postrouting', 'nat hook postrouting priority 100'),
    rule('nat-postrouting', 'ct status dnat ip saddr . ip daddr @hairpin4 masquerade fully-random'),
    rule('nat-postrouting', 'ct status dnat ip6 saddr . ip6 daddr @hairpin6 masquerade fully-random'),
    rule('nat-postrouting', `meta mark and ${masqueradeMark} == 0 return`),
    rule('nat-postrouting', `meta mark set meta mark xor ${masqueradeMark} masquerade fully-random`),
    ...(loopbackInterface === undefined
      ? []
      : [
          base('loopback', 'filter hook prerouting priority -300'),
          rule('loopback', `iifname "${loopbackInterface}" ip daddr 127.0.0.0/8 drop`),
        ]),
  ]
}

/** The chain of all frontends with this number of endpoints. */
export const pickChainName = (family: AddressFamily, endpoints: number, isOwn: boolean): string =>
  `${isOwn ? 'own-' : ''}pick-${endpoints}-of${suffixOf(family)}`

/** nft 1.0 accepts their rules only in the transaction that creates the maps, so they are created in advance. */
function pickChains(family: AddressFamily, endpointsMax: number): readonly string[] {
  const [header, suffix] = [headerOf(family), suffixOf(family)]
  return [false, true].flatMap((isOwn) =>
    Array.from({ length: endpointsMax }, (_, index) => {
      const name = pickChainName(family, index + 1, isOwn)
      const map = `${isOwn ? 'own-' : ''}endpoints${suffix}`
      const lookup = `${frontendKey(header)} . numgen random mod ${index + 1} map @${map}`
      return [`add chain ${table} ${name}`, rule(name, `dnat ${header} to ${lookup}`)]
    }).flat(),
  )
}

/**
 * Commands that fail, each with one error, as long as the table is complete: sets and chains that rules refer to cannot be
 * deleted, and elements that exist cannot be created. Nothing is changed unless all of them succeed.
 */
export const probeCommands: readonly string[] = [
  // Before the chains that refer to it, whose rules are gone for the rest of the transaction.
  `delete chain ${table} refuse`,
  ...families.flatMap((family) => {
    const [address, suffix] = [canary(headerOf(family)), suffixOf(family)]
    return [
      `create element ${table} cluster-ips${suffix} { ${address} }`,
      ...['services', 'own-services'].map(
        (name) => `create element ${table} ${name}${suffix} { ${address} . tcp . 0 : continue }`,
      ),
    ]
  }),
  ...families.flatMap((family) => [
    ...['services', 'own-services', 'endpoints', 'own-endpoints'].map(
      (name) => `delete map ${table} ${name}${suffixOf(family)}`,
    ),
    ...['refused', 'masqueraded', 'local-policy', 'firewalled', 'accepted', 'hairpin'].map(
      (name) => `delete set ${table} ${name}${suffixOf(family)}`,
    ),
    ...['dispatch', 'check'].map((name) => `delete chain ${table} ${name}${suffixOf(family)}`),
  ]),
]

/** Succeeds, and changes nothing, as long as the table exists. */
export const presenceCommands: readonly string[] = [`add chain ${table} refuse`]

export const removalCommands: readonly string[] = [`add table ${table}`, `delete table ${table}`]
