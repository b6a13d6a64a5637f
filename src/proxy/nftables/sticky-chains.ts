// Session affinity. An endpoint of such a Service has a set of the clients that it serves, whose elements expire, and a
// chain that adds the client to it. Chains of the Service send known clients to their endpoint, and others to a random one.
import type { TableObject } from '../../machine/nftables/table-content.ts'
import type { PortEndpoint } from '../routing/endpoint-selection.ts'
import type { ServiceRoute } from '../routing/service-route.ts'
import { slotId } from './slot-order.ts'

export type StickyUse = 'internal' | 'external' | 'own'

/** More clients than this share endpoints at random. */
const clientsMax = 65_536

/** The chain for these endpoints, with what it refers to; the name of the chain is the first. */
export function stickyChains(
  route: ServiceRoute,
  use: StickyUse,
  endpoints: readonly PortEndpoint[],
): { readonly chain: string; readonly objects: ReadonlyMap<string, TableObject> } {
  const header = route.family === 'IPv6' ? 'ip6' : 'ip'
  const name = stickyName(route)
  const objects = new Map<string, TableObject>()
  for (const endpoint of endpoints) {
    const [clients, to] = [clientsOf(name, endpoint), chainTo(name, endpoint)]
    const definition = `typeof ${header} saddr; flags dynamic,timeout; timeout ${route.affinitySeconds}s; size ${clientsMax};`
    objects.set(clients, { kind: 'set', lines: [definition] })
    objects.set(to, {
      kind: 'chain',
      lines: [
        `update @${clients} { ${header} saddr }`,
        `meta l4proto ${route.protocol.toLowerCase()} dnat ${header} to ${destination(endpoint)}`,
      ],
    })
  }
  const chain = `sticky-${use}-${name}`
  const choices = endpoints.map((endpoint, index) => `${index} : goto ${chainTo(name, endpoint)}`)
  objects.set(chain, {
    kind: 'chain',
    lines: [
      ...endpoints.map((endpoint) => `${header} saddr @${clientsOf(name, endpoint)} goto ${chainTo(name, endpoint)}`),
      `numgen random mod ${endpoints.length} vmap { ${choices.join(', ')} }`,
    ],
  })
  return { chain, objects }
}

/** Sets of another timeout are other sets. */
const stickyName = ({ service, portName, port, protocol, family, affinitySeconds }: ServiceRoute): string =>
  `${service}/${portName === '' ? port : portName}/${protocol.toLowerCase()}/${family}/${affinitySeconds}s`

const endpointName = (endpoint: PortEndpoint): string => slotId(endpoint).replaceAll(':', '_').replace(' . ', '-')
const clientsOf = (name: string, endpoint: PortEndpoint): string => `clients-${name}/${endpointName(endpoint)}`
const chainTo = (name: string, endpoint: PortEndpoint): string => `to-${name}/${endpointName(endpoint)}`
const destination = ({ address, port }: PortEndpoint): string =>
  address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`
