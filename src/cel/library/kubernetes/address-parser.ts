// IP addresses as bytes: IPv4 in four, IPv6 in sixteen. Parsing is strict, formatting is canonical.

/** undefined: not an address. Like upstream it rejects leading zeros, zones and IPv4-mapped IPv6 addresses. */
export function parseAddress(text: string): Uint8Array | undefined {
  if (text.includes('%')) return undefined
  return text.includes(':') ? parseSix(text) : parseFour(text)
}

function parseFour(text: string): Uint8Array | undefined {
  const parts = text.split('.')
  if (parts.length !== 4 || !parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256))
    return undefined
  return Uint8Array.from(parts, Number)
}

function parseSix(text: string): Uint8Array | undefined {
  const [head = '', tail, ...more] = text.split('::')
  if (more.length > 0 || text.includes('.')) return undefined
  const groups = (side: string): string[] => (side === '' ? [] : side.split(':'))
  const [before, after] = [groups(head), groups(tail ?? '')]
  const missing = 8 - before.length - after.length
  if (tail === undefined ? missing !== 0 : missing < 1) return undefined
  const all = [...before, ...Array.from({ length: missing }, () => '0'), ...after]
  if (!all.every((group) => /^[0-9a-fA-F]{1,4}$/.test(group))) return undefined
  return Uint8Array.from(all.flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff]))
}

export function addressText(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join('.')
  const groups = Array.from({ length: 8 }, (_, index) => ((bytes[index * 2] ?? 0) << 8) | (bytes[index * 2 + 1] ?? 0))
  const [start, length] = longestZeros(groups)
  const hex = groups.map((group) => group.toString(16))
  if (length < 2) return hex.join(':')
  return `${hex.slice(0, start).join(':')}::${hex.slice(start + length).join(':')}`
}

function longestZeros(groups: readonly number[]): readonly [start: number, length: number] {
  let [bestStart, bestLength] = [0, 0]
  for (let start = 0; start < groups.length; start++) {
    let length = 0
    while (groups[start + length] === 0) length++
    if (length > bestLength) [bestStart, bestLength] = [start, length]
  }
  return [bestStart, bestLength]
}

/** The first bits of the address; the rest are zero. */
export const masked = (bytes: Uint8Array, bits: number): Uint8Array =>
  bytes.map((byte, index) => byte & (0xff00 >> Math.min(8, Math.max(0, bits - index * 8))) & 0xff)
