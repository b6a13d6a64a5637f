// The family of an IP address.

export type AddressFamily = 'IPv4' | 'IPv6'

/** `address` is a valid IP address or CIDR. */
export const familyOf = (address: string): AddressFamily => (address.includes(':') ? 'IPv6' : 'IPv4')
