// IP addresses of simulated pods, assigned round-robin from the node's range.

/** The network address, the gateway and the broadcast address are reserved. */
const reserved = { first: 2, last: 1 }

/** The next free address of an IPv4 range after `last`; undefined when all are in use. */
export function nextAddress(range: string, last: string, isTaken: (address: string) => boolean): string | undefined {
  const slash = range.indexOf('/')
  const base = numberOf(range.slice(0, slash))
  const size = 2 ** (32 - Number(range.slice(slash + 1))) - reserved.first - reserved.last
  const lastOffset = last === '' ? -1 : numberOf(last) - base - reserved.first
  const begin = lastOffset >= 0 && lastOffset < size ? lastOffset + 1 : 0
  for (let tried = 0; tried < size; tried++) {
    const address = textOf(base + reserved.first + ((begin + tried) % size))
    if (!isTaken(address)) return address
  }
  return undefined
}

const textOf = (number: number): string =>
  `${(number >>> 24) & 0xff}.${(number >>> 16) & 0xff}.${(number >>> 8) & 0xff}.${number & 0xff}`

/** Parsed without intermediate strings, because it is called for every sandbox. */
function numberOf(text: string): number {
  let bits = 0
  let part = 0
  for (let index = 0; index < text.length; index++) {
    const digit = text.charCodeAt(index) - zeroCode
    if (digit >= 0) part = part * 10 + digit
    else [bits, part] = [bits * 256 + part, 0]
  }
  return bits * 256 + part
}
const zeroCode = 0x30
