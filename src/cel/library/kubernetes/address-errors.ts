// Why a text is not an address or a range for upstream's functions, in the wording of Go's parser.
import { readIp } from '../../../base/net/ip-bytes.ts'

/** `parseIp` rejects the text. */
export function addressError(text: string): string {
  const problem = addressProblem(text)
  if (problem !== undefined)
    return `IP Address ${JSON.stringify(text)} parse error during conversion from string: ${problem}`
  return text.includes('%')
    ? `IP address ${JSON.stringify(text)} with zone value is not allowed`
    : `IPv4-mapped IPv6 address ${JSON.stringify(text)} is not allowed`
}

const rangePrefix = 'network address parse error during conversion from string:'

/** `parsePrefix` rejects the text. */
export function rangeError(text: string): string {
  const problem = rangeProblem(text)
  return problem === undefined
    ? `${rangePrefix} IPv4-mapped IPv6 address ${JSON.stringify(text)} is not allowed`
    : `${rangePrefix} ${rangePrefix} netip.ParsePrefix(${JSON.stringify(text)}): ${problem}`
}

/** undefined: the text is an address, possibly with a zone or mapped. */
function addressProblem(text: string): string | undefined {
  const read = readIp(text)
  return typeof read === 'string' ? `ParseAddr(${JSON.stringify(text)}): ${read}` : undefined
}

/** undefined: the text is a range, possibly mapped. */
function rangeProblem(text: string): string | undefined {
  const slash = text.lastIndexOf('/')
  if (slash < 0) return "no '/'"
  const address = text.slice(0, slash)
  const bits = text.slice(slash + 1)
  const problem = addressProblem(address)
  if (problem !== undefined) return problem
  if (address.includes('%')) return 'IPv6 zones cannot be present in a prefix'
  if (!/^(0|[1-9]\d*)$/.test(bits)) return `bad bits after slash: ${JSON.stringify(bits)}`
  return Number(bits) > (address.includes(':') ? 128 : 32) ? 'prefix length out of range' : undefined
}
