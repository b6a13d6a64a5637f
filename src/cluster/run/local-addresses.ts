// The addresses of this machine that are in certain ranges.
import { networkInterfaces } from 'node:os'
import { containsCidr, parseCidr, type Cidr } from '../../api/networking/v1/cidr.ts'
import { familyOf } from '../../base/text/address-family.ts'

/** In a stable order, so that two results can be compared. Link-local IPv6 addresses have no meaning without a device. */
export function localAddressesIn(ranges: readonly string[], local = localAddresses()): readonly string[] {
  const parsed = ranges.map(parseCidr)
  return local.filter((address) => isIn(parsed, address)).toSorted()
}

function isIn(ranges: readonly Cidr[], address: string): boolean {
  if (/^fe[89ab]/i.test(address)) return false
  const own = parseCidr(`${address}/${familyOf(address) === 'IPv4' ? 32 : 128}`)
  return ranges.some((range) => containsCidr(range, own))
}

const localAddresses = (): readonly string[] =>
  Object.values(networkInterfaces()).flatMap((found = []) => found.map(({ address }) => address))
