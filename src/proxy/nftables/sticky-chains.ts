// Session affinity. An endpoint of such a Service has a set of the clients that it serves, whose elements expire, and a
// chain that adds the client to it. Chains of the Service send known clients to their endpoint, and others to a random one.
import { commandText, joinCommandText, parseIdentifier, type CommandText } from '../../base/net/command-text.ts'
import { addressBits } from '../../base/net/ip-address.ts'
import type { TableObject } from '../../machine/nftables/table-content.ts'
import type { PortEndpoint } from '../routing/endpoint-selection.ts'
import type { ServiceRoute } from '../routing/service-route.ts'
import { protocolNames } from './frontends.ts'

export type StickyUse = 'internal' | 'external' | 'own'

/** More clients than this share endpoints at random. */
const clientsMax = 65_536

export interface StickyChains {
  readonly chain: CommandText
  /** The chain, and the chains and sets that it refers to. */
  readonly objects: ReadonlyMap<CommandText, TableObject>
}

/** The chain for these endpoints; undefined if the Service has a name that the kernel does not accept. */
export function stickyChains(
  route: ServiceRoute,
  use: StickyUse,
  endpoints: readonly PortEndpoint[],
): StickyChains | undefined {
  const header = route.family === 'IPv6' ? 'ip6' : 'ip'
  const name = stickyName(route)
  const chain = parseIdentifier(`sticky-${use}-${stickyName(route)}`)
  if (chain === undefined) return undefined
  const objects = new Map<CommandText, TableObject>()
  const lookups: CommandText[] = []
  const choices: CommandText[] = []
  for (const [index, endpoint] of endpoints.entries()) {
    const id = `${name}/${addressName(endpoint)}-${endpoint.port}`
    const clients = parseIdentifier(`clients-${id}`)
    const to = parseIdentifier(`to-${id}`)
    if (clients === undefined || to === undefined) return undefined
    const definition = commandText`typeof ${header} saddr; flags dynamic,timeout; timeout ${route.affinitySeconds}s; size ${clientsMax};`
    objects.set(clients, { kind: 'set', lines: [definition] })
    objects.set(to, {
      kind: 'chain',
      lines: [
        commandText`update @${clients} { ${header} saddr }`,
        commandText`meta l4proto ${protocolNames[route.protocol]} dnat ${header} to ${destination(endpoint)}`,
      ],
    })
    lookups.push(commandText`${header} saddr @${clients} goto ${to}`)
    choices.push(commandText`${index} : goto ${to}`)
  }
  const choose = commandText`numgen random mod ${endpoints.length} vmap { ${joinCommandText(choices, ', ')} }`
  objects.set(chain, { kind: 'chain', lines: [...lookups, choose] })
  return { chain, objects }
}

/**
 * Sets of another timeout are other sets. The names of namespaces, Services and ports have up to 63 characters, so this one
 * has up to 208. The names of chains and sets, with an address of 32 digits and a port, have up to the 255 characters that
 * the kernel accepts.
 */
const stickyName = ({ service, portName, port, protocol, family, affinitySeconds }: ServiceRoute): string =>
  `${service}/${portName === '' ? port : portName}/${protocolNames[protocol]}/${family}/${affinitySeconds}s`

const addressName = ({ address }: PortEndpoint): string =>
  address.includes(':') ? addressBits(address).toString(16).padStart(32, '0') : address

const destination = ({ address, port }: PortEndpoint): CommandText =>
  address.includes(':') ? commandText`[${address}]:${port}` : commandText`${address}:${port}`
