// Valid ports and addresses, with upstream's messages for invalid ones.

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

/** Four numbers up to 255, without leading zeros. Called for every pod status, hence without a pattern. */
export function isIpV4(text: string): boolean {
  let [dots, number] = [0, -1]
  for (let at = 0; at < text.length; at++) {
    const digit = text.charCodeAt(at) - zero
    if (digit === dot - zero && number >= 0) {
      dots++
      number = -1
    } else if (digit < 0 || digit > 9 || number === 0) return false
    else number = number < 0 ? digit : number * 10 + digit
    if (number > 255) return false
  }
  return dots === 3 && number >= 0
}

const [zero, dot] = [48, 46]

export function isIpV6(text: string): boolean {
  if (!/^[0-9a-fA-F:.]+$/.test(text) || !text.includes(':')) return false
  const halves = text.split('::')
  if (halves.length > 2) return false
  const groups = halves.flatMap((half) => (half === '' ? [] : half.split(':')))
  const last = groups.at(-1) ?? ''
  const hasV4 = last.includes('.')
  if (hasV4 && !isIpV4(last)) return false
  const count = groups.length + (hasV4 ? 1 : 0)
  const plain = hasV4 ? groups.slice(0, -1) : groups
  return plain.every((group) => /^[0-9a-fA-F]{1,4}$/.test(group)) && (halves.length === 2 ? count < 8 : count === 8)
}

export const isIp = (text: string): boolean => isIpV4(text) || isIpV6(text)

/** IPv4-mapped IPv6 addresses (`::ffff:127.0.0.1`): programs disagree about their family. */
const isMappedIp = (text: string): boolean =>
  isIpV6(text) && /^(?:0{0,4}:){2,5}ffff:(?:[0-9.]+|[0-9a-f]{1,4}:[0-9a-f]{1,4})$/i.test(text)

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
