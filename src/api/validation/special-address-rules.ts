// Addresses that are not reachable from other machines: they cannot be endpoints or external addresses.

/** `address` is a valid IP address. */
export function specialAddressErrors(address: string): string[] {
  const text = address.toLowerCase()
  const errors: string[] = []
  if (text === '0.0.0.0' || /^[0:]+$/.test(text)) errors.push(`may not be unspecified (${address})`)
  if (text.startsWith('127.') || /^[0:]*:0*1$/.test(text))
    errors.push('may not be in the loopback range (127.0.0.0/8, ::1/128)')
  if (text.startsWith('169.254.') || /^fe[89ab][0-9a-f]:/.test(text))
    errors.push('may not be in the link-local range (169.254.0.0/16, fe80::/10)')
  if (text.startsWith('224.0.0.') || /^ff[0-9a-f]2:/.test(text))
    errors.push('may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)')
  return errors
}
