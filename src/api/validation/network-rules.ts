// Valid ports and addresses, with upstream's messages for invalid ones.
import { cidrOf, networkAddressOf, parseCidr, parsePrefix } from '../../base/net/cidr.ts'
import { parseIp } from '../../base/net/ip-address.ts'
import { isCidrSloppy, isIpSloppy } from '../../base/net/sloppy-address.ts'

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

export function ipErrors(text: string): string[] {
  if (parseIp(text) !== undefined) return []
  if (!isIpSloppy(text)) return ['must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)']
  return [text.includes(':') ? 'must not be an IPv4-mapped IPv6 address' : 'must not have leading 0s']
}

/** For names, which must have one spelling. */
export function canonicalIpErrors(text: string): string[] {
  const errors = ipErrors(text)
  return errors.length > 0 ? errors : spellingErrors(text, parseIp(text))
}

/**
 * The errors of a CIDR in a field that is older than these rules: one that the stored object has (`stored`) is accepted, so
 * that the object can still be updated. Components read such values with `parseCidrSloppy`.
 */
export function cidrErrors(text: string, stored: ReadonlySet<string>): string[] {
  if (stored.has(text)) return []
  if (!isCidrSloppy(text)) return ['must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)']
  const prefix = parsePrefix(text)
  if (prefix === undefined) {
    const isMapped = text.includes(':') && !/\/0\d/.test(text)
    return [isMapped ? 'must not have an IPv4-mapped IPv6 address' : 'must not have leading 0s in IP or prefix length']
  }
  const isNetwork = networkAddressOf(cidrOf(prefix.address, prefix.length)) === prefix.address
  return isNetwork ? [] : ['must not have bits set beyond the prefix length']
}

/** For ranges that must have one spelling. */
export function canonicalCidrErrors(text: string): string[] {
  const errors = cidrErrors(text, new Set())
  return errors.length > 0 ? errors : spellingErrors(text, parseCidr(text))
}

const spellingErrors = (text: string, canonical: string | undefined): string[] =>
  canonical === text ? [] : [`must be in canonical form (${JSON.stringify(canonical)})`]
