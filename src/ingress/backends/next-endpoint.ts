import type { Peer } from '../../platform/sockets/sockets.ts'
import type { PortEndpoints } from './service-endpoints.ts'

const none: ReadonlySet<Peer> = new Set()

/** Endpoints in turn, without those that were tried. */
export function nextEndpoint(known: PortEndpoints, tried: ReadonlySet<Peer> = none): Peer | undefined {
  const { endpoints } = known
  for (let count = 0; count < endpoints.length; count++) {
    known.next = (known.next + 1) % endpoints.length
    const endpoint = endpoints[known.next]
    if (endpoint !== undefined && !isTried(tried, endpoint)) return endpoint
  }
  return undefined
}

/** The list of endpoints may have been computed again meanwhile. */
const isTried = (tried: ReadonlySet<Peer>, { address, port }: Peer): boolean =>
  tried.size > 0 && tried.values().some((each) => each.address === address && each.port === port)
