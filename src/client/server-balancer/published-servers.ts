// The API servers that a cluster publishes as the endpoints of the Service `kubernetes`, and the file in which a node keeps
// them, so that after a restart it does not depend on the server with which it joined.
import { parseIp } from '../../base/net/ip-address.ts'
import { parsePort } from '../../base/net/port.ts'
import type { EndpointSlice } from '../../api/discovery/v1/endpoint-slice.ts'
import type { Peer } from '../../platform/sockets/sockets.ts'
import { serverName, serversMax } from './balanced-servers.ts'

export const publishedServersSelector = 'kubernetes.io/service-name=kubernetes'

/** Sorted, so that equal lists have equal texts. */
export function publishedServers(slices: Iterable<EndpointSlice>): readonly Peer[] {
  const servers = new Map<string, Peer>()
  for (const { endpoints, ports } of slices) {
    const port = parsePort((ports ?? []).find(({ name }) => name === 'https')?.port ?? 0)
    if (port === undefined) continue
    for (const { addresses, conditions } of endpoints ?? [])
      for (const address of conditions?.ready === false ? [] : addresses)
        if (parseIp(address) !== undefined) servers.set(serverName({ address, port }), { address, port })
  }
  return [...servers].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, server]) => server)
}

export const serversText = (servers: readonly Peer[]): string => `${JSON.stringify({ servers })}\n`

/** Throws on a text that `serversText` has not written. */
export function parseServers(text: string): readonly Peer[] {
  const { servers } = JSON.parse(text) as { readonly servers?: unknown }
  if (!Array.isArray(servers) || servers.length > serversMax) throw new Error('it has no list of servers')
  return servers.map((entry: unknown) => {
    const { address, port } = entry as { readonly address?: unknown; readonly port?: unknown }
    if (typeof address !== 'string' || parseIp(address) === undefined)
      throw new Error(`${JSON.stringify(address)} is no address`)
    if (typeof port !== 'number' || parsePort(port) === undefined) throw new Error(`${JSON.stringify(port)} is no port`)
    return { address, port }
  })
}
