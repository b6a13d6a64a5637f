// Valid ports and addresses, with upstream's messages for invalid ones.
import { networkAddressOf, parseCidr } from '../../base/net/cidr.ts'
import { parseIp } from '../../base/net/ip-address.ts'
import { parseStoredCidr } from '../../base/net/stored-address.ts'
import { ipBytes, isIpv4 as isIpV4, isIpv6 as isIpV6, isMappedIpv4 } from '../../base/net/ip-bytes.ts'

export const portErrors = (port: number): string[] =>
  Number.isInteger(port) && port >= 1 && port <= 65_535 ? [] : ['must be between 1 and 65535, inclusive']

/** IANA service names: names of ports. */
export function portNameErrors(name: string): string[] {
  const errors: string[] = []
  if (name.length > 15) errors.push('must be no more than 15 characters')
  if (!/^[-a-z0-9]+$/.test(name)) errors.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)')
  if (!/[a-z]/.test(name)) errors.push('must contain at least one letter (a-z)')
  if (name.includes('--')) errors.push('must not contain consecutive hyphens')
  if (name.startsWith('-') || name.endsWith('-')) errors.push('must not begin or end with a hyphen')
  return errors
}

export { isIpv4 as isIpV4, isIpv6 as isIpV6 } from '../../base/net/ip-bytes.ts'

export const isIp = (text: string): boolean => isIpV4(text) || isIpV6(text)

/** IPv4-mapped IPv6 addresses (`::ffff:127.0.0.1`): programs disagree about their family. */
function isMappedIp(text: string): boolean {
  const bytes = text.includes(':') ? ipBytes(text) : undefined
  return bytes !== undefined && isMappedIpv4(bytes)
}

const hasLeadingZeros = (text: string): boolean =>
  /^\d{1,3}(?:\.\d{1,3}){3}$/.test(text) && isIpV4(text.split('.').map(Number).join('.'))

export function ipErrors(text: string): string[] {
  if (isIp(text)) return isMappedIp(text) ? ['must not be an IPv4-mapped IPv6 address'] : []
  if (hasLeadingZeros(text)) return ['must not have leading 0s']
  return ['must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)']
}

export function cidrErrors(text: string): string[] {
  const [address = '', length = ''] = text.split('/')
  const max = isIpV4(address) ? 32 : isIpV6(address) ? 128 : -1
  return /^\d{1,3}$/.test(length) && text.split('/').length === 2 && Number(length) <= max
    ? []
    : ['must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)']
}

/**
 * The errors of a CIDR in a field that is older than these rules: one that the stored object has (`stored`) is accepted, so
 * that the object can still be updated. Components read such values with `parseStoredCidr`.
 */
export function strictCidrErrors(text: string, stored: ReadonlySet<string>): string[] {
  if (stored.has(text)) return []
  const [host = '', length = ''] = text.split('/')
  const isMapped = isMappedIp(host)
  if (parseStoredCidr(text) === undefined && !(isMapped && /^\d{1,3}$/.test(length) && Number(length) <= 128))
    return ['must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)']
  if (!isIp(host) || /^0\d/.test(length)) return ['must not have leading 0s in IP or prefix length']
  if (isMapped) return ['must not have an IPv4-mapped IPv6 address']
  const [address, range] = [parseIp(host), parseCidr(text)]
  const isNetwork = address !== undefined && range !== undefined && networkAddressOf(range) === address
  return isNetwork ? [] : ['must not have bits set beyond the prefix length']
}
