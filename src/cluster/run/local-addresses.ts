// The addresses of this machine.
import { once } from 'node:events'
import { connect } from 'node:net'
import { networkInterfaces } from 'node:os'
import { hostOfUrl, joinHostPort } from '../../base/net/host-port.ts'
import { isLinkLocalAddress } from '../../base/net/address-kind.ts'
import { cidrHasAddress, type Cidr } from '../../base/net/cidr.ts'
import { isIpv4Address, parseIps, type IpAddress } from '../../base/net/ip-address.ts'
import { parseRemoteIp } from '../../base/net/remote-address.ts'
import type { Peer } from '../../platform/sockets/sockets.ts'

/** Those in certain ranges, in a stable order, so that two results can be compared. Link-local IPv6 addresses have no meaning without a device. */
export const localAddressesIn = (ranges: readonly Cidr[], local = localAddresses()): readonly IpAddress[] =>
  parseIps(local)
    .filter((address) => isIpv4Address(address) || !isLinkLocalAddress(address))
    .filter((address) => ranges.some((range) => cidrHasAddress(range, address)))
    .toSorted()

export const localAddresses = (): readonly string[] =>
  Object.values(networkInterfaces()).flatMap((found = []) => found.map(({ address }) => address))

/** To find the address of this machine. */
const connectMsMax = 10_000

/** The local address of a connection to an API server, which can reach this machine there. `flag` names it otherwise. */
export async function addressTowards(servers: readonly Peer[], flag: string, signal: AbortSignal): Promise<string> {
  const failures: unknown[] = []
  for (const { address, port } of servers) {
    signal.throwIfAborted()
    const socket = connect({ host: address, port, timeout: connectMsMax })
    socket.once('timeout', () => socket.destroy(new Error(`no connection within ${connectMsMax / 1000} s`)))
    try {
      await once(socket, 'connect', { signal })
      return parseRemoteIp(socket.localAddress ?? '') ?? ''
    } catch (error) {
      failures.push(error)
    } finally {
      socket.destroy()
    }
  }
  const names = servers.map(({ address, port }) => joinHostPort(address, port)).join(', ')
  throw new Error(`the API server ${names} cannot be reached; name the address of this machine with ${flag}`, {
    cause: failures[0],
  })
}

export function peerOf(server: string): Peer {
  const url = new URL(server)
  return { address: hostOfUrl(url), port: Number(url.port || 443) }
}
