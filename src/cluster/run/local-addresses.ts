// The addresses of this machine.
import { networkInterfaces } from 'node:os'
import { isLinkLocalAddress } from '../../base/net/address-kind.ts'
import { cidrHasAddress, type Cidr } from '../../base/net/cidr.ts'
import { isIpv4Address, parseIps, type IpAddress } from '../../base/net/ip-address.ts'

/** Those in certain ranges, in a stable order, so that two results can be compared. Link-local IPv6 addresses have no meaning without a device. */
export const localAddressesIn = (ranges: readonly Cidr[], local = localAddresses()): readonly IpAddress[] =>
  parseIps(local)
    .filter((address) => isIpv4Address(address) || !isLinkLocalAddress(address))
    .filter((address) => ranges.some((range) => cidrHasAddress(range, address)))
    .toSorted()

export const localAddresses = (): readonly string[] =>
  Object.values(networkInterfaces()).flatMap((found = []) => found.map(({ address }) => address))
