// Addresses that are not reachable from other machines: they cannot be endpoints or external addresses.
import {
  isLinkLocalAddress,
  isLinkLocalMulticastAddress,
  isLoopbackAddress,
  isUnspecifiedAddress,
} from '../../base/net/address-kind.ts'
import { parseIpSloppy } from '../../base/net/sloppy-address.ts'

/** Texts that are not addresses have no such errors. */
export function specialAddressErrors(text: string): string[] {
  const address = parseIpSloppy(text)
  if (address === undefined) return []
  const errors: string[] = []
  if (isUnspecifiedAddress(address)) errors.push(`may not be unspecified (${text})`)
  if (isLoopbackAddress(address)) errors.push('may not be in the loopback range (127.0.0.0/8, ::1/128)')
  if (isLinkLocalAddress(address)) errors.push('may not be in the link-local range (169.254.0.0/16, fe80::/10)')
  if (isLinkLocalMulticastAddress(address))
    errors.push('may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)')
  return errors
}
