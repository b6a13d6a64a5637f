// Addresses of simulated pods: those of the node's range in turn, each one's only once at a time.

/** The network's own address, the one after it, and the last one are no pod's. */
const keptBack = { first: 2, last: 1 }

/** The next free address of an IPv4 range after the `last` one given; undefined when all are taken. */
export function nextAddress(range: string, last: string, isTaken: (address: string) => boolean): string | undefined {
  const slash = range.indexOf('/')
  const base = numberOf(range.slice(0, slash))
  const size = 2 ** (32 - Number(range.slice(slash + 1))) - keptBack.first - keptBack.last
  const lastOffset = last === '' ? -1 : numberOf(last) - base - keptBack.first
  const begin = lastOffset >= 0 && lastOffset < size ? lastOffset + 1 : 0
  for (let tried = 0; tried < size; tried++) {
    const address = textOf(base + keptBack.first + ((begin + tried) % size))
    if (!isTaken(address)) return address
  }
  return undefined
}

const textOf = (number: number): string =>
  `${(number >>> 24) & 0xff}.${(number >>> 16) & 0xff}.${(number >>> 8) & 0xff}.${number & 0xff}`

/** It is asked for with every sandbox: no pieces of text are made. */
function numberOf(text: string): number {
  let [bits, part] = [0, 0]
  for (let index = 0; index < text.length; index++) {
    const digit = text.charCodeAt(index) - zeroCode
    if (digit >= 0) part = part * 10 + digit
    else [bits, part] = [bits * 256 + part, 0]
  }
  return bits * 256 + part
}
const zeroCode = 0x30
