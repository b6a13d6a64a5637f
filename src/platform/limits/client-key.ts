/**
 * The key under which connections of one client are counted: an IPv4 address, or the /64 network of an IPv6 address,
 * because a single host commonly owns a whole /64.
 */
export function clientKey(address: string): string {
  const unmapped =
    address.startsWith(mappedPrefix) && address.includes('.') ? address.slice(mappedPrefix.length) : address
  if (!unmapped.includes(':')) return unmapped
  const [plain = ''] = unmapped.split('%', 1)
  const [before = '', after] = plain.split('::')
  const head = groupsOf(before)
  const zeros = after === undefined ? 0 : groupsMax - head.length - groupsOf(after).length
  const groups = [...head, ...Array.from({ length: zeros }, () => '0'), ...groupsOf(after ?? '')]
  return `${groups.slice(0, networkGroups).join(':')}::/64`
}

const mappedPrefix = '::ffff:'
const groupsMax = 8
const networkGroups = 4
const groupsOf = (text: string): string[] => (text === '' ? [] : text.split(':'))
