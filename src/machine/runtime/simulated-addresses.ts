// Addresses of simulated pods: those of the node's range in turn, each one's only once at a time.

/** The network's own address, the one after it, and the last one are no pod's. */
const keptBack = { first: 2, last: 1 }

/** The next free address of an IPv4 range after the `last` one given; undefined when all are taken. */
export function nextAddress(range: string, last: string, isTaken: (address: string) => boolean): string | undefined {
  const [network = '', prefixLength] = range.split('/')
  const base = numberOf(network)
  const size = 2 ** (32 - Number(prefixLength)) - keptBack.first - keptBack.last
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
const numberOf = (text: string): number => text.split('.').reduce((bits, part) => bits * 256 + Number(part), 0)
