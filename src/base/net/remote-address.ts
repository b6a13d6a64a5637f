// The address of the other end of a connection, as the operating system reports it.
import { isLoopbackAddress } from './address-kind.ts'
import type { IpAddress } from './ip-address.ts'
import { parseIpSloppy } from './sloppy-address.ts'

/**
 * undefined: not an address, as of a closed socket. A socket that accepts both families reports IPv4 addresses in IPv6
 * notation. The zone of a link-local address is dropped.
 */
export function parseRemoteIp(remoteAddress: string): IpAddress | undefined {
  const percent = remoteAddress.indexOf('%')
  return parseIpSloppy(percent < 0 ? remoteAddress : remoteAddress.slice(0, percent))
}

/** Whether a client is on this machine, by the address of its connection. */
export function isLoopback(remoteAddress: string): boolean {
  const address = parseRemoteIp(remoteAddress)
  return address !== undefined && isLoopbackAddress(address)
}
